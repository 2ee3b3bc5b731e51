#include "temper/machine/devices.h"

#include <algorithm>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/machine/device_kind.h"

namespace temper::machine {
namespace {

DeviceReport tried(
    const std::string& device,
    const std::string& model,
    const TryDevice& try_device) {
  const libtorch::DeviceTrial trial = try_device(device);
  return {device, model, trial.works, trial.why_not};
}

// The n-th GPU of a vendor; its model is for people and may stay empty.
std::string model_of(const Machine& machine, const char* vendor, int n) {
  for (const auto& gpu : machine.gpus)
    if (gpu.vendor == vendor && n-- == 0) return gpu.model;
  return "";
}

bool is_gpu(const std::string& device) {
  return !is_cpu(device);
}

std::string working(const std::vector<DeviceReport>& devices) {
  std::vector<std::string> names;
  for (const auto& device : devices)
    if (device.works) names.push_back(device.device);
  return join(names, ", ");
}

// Each device that was looked at and turned down, with its reason.
std::string failures(
    const std::vector<DeviceReport>& devices,
    const std::string& kind) {
  std::vector<std::string> reasons;
  for (const auto& device : devices) {
    const bool wanted = kind == "gpu"
        ? is_gpu(device.device)
        : device_kind(device.device) == device_kind(kind);
    if (wanted && !device.works)
      reasons.push_back(
          cat(device.device, " does not work (", device.why_not, ")"));
  }
  return join(reasons, "; ");
}

[[noreturn]] void refuse(
    const std::string& request,
    const std::string& looked_for,
    const std::vector<DeviceReport>& devices) {
  const std::string failed =
      failures(devices, request.substr(0, request.find(':')));
  throw Error(
      cat("[machine] device \"",
          request,
          "\" cannot be used: looked for ",
          looked_for,
          failed.empty() ? " and found none" : cat("; ", failed),
          "."),
      cat("Usable here: ",
          working(devices),
          ". Run with --device auto, or see temper doctor."));
}

} // namespace

std::vector<DeviceReport> list_devices(
    const Machine& machine,
    const TryDevice& try_device) {
  std::vector<DeviceReport> devices;
  const auto& facts = machine.libtorch;
  for (int i = 0; i < facts.cuda_devices; ++i)
    devices.push_back(
        tried(cat("cuda:", i), model_of(machine, "nvidia", i), try_device));
  if (facts.cuda_built && facts.cuda_devices == 0)
    devices.push_back(
        {"cuda:0",
         model_of(machine, "nvidia", 0),
         false,
         "LibTorch was built for CUDA and finds no usable driver or device"});
  if (facts.mps_built)
    devices.push_back(tried("mps", model_of(machine, "apple", 0), try_device));
  devices.push_back(tried("cpu", machine.cpu.model, try_device));
  return devices;
}

std::optional<Error> unknown_device(const std::string& request) {
  const std::vector<std::string> names{
      "auto", "any", "cpu", "gpu", "mps", "cuda", "sim"};
  if (std::find(names.begin(), names.end(), request) != names.end())
    return std::nullopt;
  constexpr std::string_view kNumbered = "cuda:";
  if (request.starts_with(kNumbered) &&
      parse_int(request.substr(kNumbered.size())).value_or(-1) >= 0)
    return std::nullopt;
  const auto meant = nearest(request, names);
  return Error(
      cat("[machine] unknown device \"", request, "\"."),
      cat(meant ? cat("Did you mean ", *meant, "? ") : "",
          "Known: ",
          join(names, ", "),
          ", cuda:N."));
}

std::string choose_device(
    const std::string& request,
    const std::vector<DeviceReport>& devices) {
  if (const auto error = unknown_device(request)) throw *error;
  const auto first = [&](auto&& wanted) -> std::string {
    for (const auto& device : devices)
      if (device.works && wanted(device.device)) return device.device;
    return "";
  };
  if (request == "auto" || request == "any") {
    const std::string best = first([](const std::string&) { return true; });
    return best.empty() ? "cpu" : best;
  }
  if (request == "cpu" || request == "sim") return request;
  if (request == "gpu") {
    const std::string gpu = first(is_gpu);
    if (gpu.empty()) refuse(request, "CUDA and MPS in this LibTorch", devices);
    return gpu;
  }
  if (request == "mps") {
    const std::string mps = first([](const std::string& name) {
      return device_kind(name) == DeviceKind::mps;
    });
    if (mps.empty()) refuse(request, "MPS in this LibTorch", devices);
    return mps;
  }
  const bool numbered = request != "cuda";
  const std::string cuda = first([&](const std::string& name) {
    return numbered ? name == request : device_kind(name) == DeviceKind::cuda;
  });
  if (cuda.empty()) refuse(request, cat(request, " in this LibTorch"), devices);
  return cuda;
}

} // namespace temper::machine
