#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/doctor/checks.h"
#include "temper/doctor/mps_floor.h"
#include "temper/machine/device_kind.h"

namespace temper::doctor {
namespace {

constexpr const char* kDevicesGroup = "devices";

bool has_gpu(const machine::Machine& machine, const std::string& vendor) {
  return std::any_of(
      machine.gpus.begin(), machine.gpus.end(), [&](const machine::Gpu& gpu) {
        return gpu.vendor == vendor;
      });
}

std::optional<Check> macos_too_old(const Evidence& evidence) {
  const auto& machine = evidence.machine;
  if (!machine.apple_silicon() || !machine.libtorch.mps_built)
    return std::nullopt;
  const auto macos = parse_version(machine.platform.version);
  const auto libtorch = parse_version(machine.libtorch.version);
  if (!macos || !libtorch) return std::nullopt;
  const auto floor = mps_floor(*libtorch);
  if (!floor || *macos >= *floor) return std::nullopt;
  return Check{
      kDevicesGroup,
      "macOS for MPS",
      cat("macOS ",
          machine.platform.version,
          "; LibTorch ",
          machine.libtorch.version,
          " offers MPS from ",
          floor->major,
          ".",
          floor->minor,
          " on"),
      Verdict::bad,
      "Update macOS, or build temper with an older LibTorch.",
      ""};
}

std::optional<Check> gpu_without_backend(const Evidence& evidence) {
  const auto& machine = evidence.machine;
  const auto& facts = machine.libtorch;
  if (!facts.present) return std::nullopt;
  const char* const name = "GPU without backend";
  if (has_gpu(machine, "nvidia") && !facts.cuda_built)
    return Check{
        kDevicesGroup,
        name,
        "an NVIDIA GPU is here, and this LibTorch is CPU-only",
        Verdict::bad,
        "Build temper with a CUDA LibTorch (pip install torch) to use it.",
        ""};
  if (has_gpu(machine, "apple") && !facts.mps_built)
    return Check{
        kDevicesGroup,
        name,
        "an Apple GPU is here, and this LibTorch was built without MPS",
        Verdict::bad,
        "Build temper with an arm64 LibTorch that has MPS: brew install "
        "pytorch, or pip install torch in a native Python.",
        ""};
  return std::nullopt;
}

Check device_row(
    const machine::DeviceReport& device,
    const Evidence& evidence) {
  Check check{kDevicesGroup, device.device, "", Verdict::ok, "", ""};
  const std::string model = device.model.empty() ? "" : cat(device.model, ", ");
  if (device.works) {
    check.found = cat(model, "works: computed and read back a product");
    return check;
  }
  check.found = cat(model, "does not work: ", device.why_not);
  const bool cuda =
      machine::device_kind(device.device) == machine::DeviceKind::cuda;
  const bool there = machine::is_cpu(device.device) ||
      has_gpu(evidence.machine, cuda ? "nvidia" : "apple");
  check.verdict = there ? Verdict::bad : Verdict::note;
  if (cuda)
    check.advice = there
        ? "Check the driver with nvidia-smi; it must be as new as the CUDA "
          "this LibTorch was built for."
        : "";
  else if (
      machine::device_kind(device.device) == machine::DeviceKind::mps &&
      !evidence.machine.platform.vm.empty()) {
    check.verdict = Verdict::warn;
    check.advice =
        "Virtual machines report MPS without a GPU behind it; temper takes "
        "the CPU.";
    check.source = "pytorch#125197";
  } else if (machine::device_kind(device.device) == machine::DeviceKind::mps)
    check.advice =
        "Restart the Mac if it worked before; else update macOS and LibTorch.";
  else
    check.advice = "This LibTorch cannot compute here; install it again.";
  return check;
}

Check chosen(const Evidence& evidence) {
  Check check{kDevicesGroup, "choice", "", Verdict::ok, "", ""};
  const auto& asked = evidence.requested_device;
  try {
    check.found =
        cat("--device ",
            asked,
            " takes ",
            machine::choose_device(asked, evidence.devices));
  } catch (const Error& error) {
    check.found = error.what();
    check.verdict = Verdict::bad;
    check.advice = error.hint();
  }
  return check;
}

} // namespace

std::vector<Check> check_devices(const Evidence& evidence) {
  std::vector<Check> checks;
  for (const auto& device : evidence.devices)
    checks.push_back(device_row(device, evidence));
  if (auto check = macos_too_old(evidence)) checks.push_back(*check);
  if (auto check = gpu_without_backend(evidence)) checks.push_back(*check);
  checks.push_back(chosen(evidence));
  return checks;
}

} // namespace temper::doctor
