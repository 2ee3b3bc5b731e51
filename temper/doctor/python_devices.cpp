#include <algorithm>
#include <optional>

#include "temper/base/text.h"
#include "temper/doctor/known_bad.h"
#include "temper/doctor/mps_floor.h"
#include "temper/doctor/python_rules.h"

namespace temper::doctor {
namespace {

using End = ProcessResult::End;

// The macOS this torch wants, when this one is older.
std::optional<Version> macos_wanted(const PythonCase& c) {
  const auto torch = installed_version(c.python, "torch");
  const auto macos = parse_version(c.machine.platform.version);
  if (!c.machine.apple_silicon() || !torch || !macos) return std::nullopt;
  const auto floor = mps_floor(*torch);
  return floor && *macos < *floor ? floor : std::nullopt;
}

std::string why_unavailable(const PythonCase& c) {
  if (macos_wanted(c)) return "macOS is too old for it";
  if (c.python.translated || c.python.architecture == "x86_64")
    return "Python runs under Rosetta";
  if (!c.machine.platform.vm.empty())
    return "this is a virtual machine, which may have no Metal device";
  return "Metal offers torch no device";
}

} // namespace

void torch_import(PythonCase& c) {
  const auto& torch = c.python.torch;
  if (!torch.run.made) return;
  if (torch.imported)
    return c.add(
        "torch", cat(torch.version, ", ", plural(torch.threads, "thread")));
  const auto why = !torch.error.empty() ? torch.error : torch.run.error;
  const auto advice = torch.run.end == End::timed_out
      ? "Import it by hand to see where it waits."
      : "Reinstall torch in a fresh environment.";
  c.add(
      "torch",
      cat(named_version(c.python, "torch"), " cannot be imported: ", why),
      Verdict::bad,
      advice);
}

void macos_for_mps(PythonCase& c) {
  const auto wanted = macos_wanted(c);
  if (!wanted) return;
  c.add(
      "macOS for MPS",
      cat(named_version(c.python, "torch"),
          " uses the GPU from macOS ",
          wanted->major,
          ".",
          wanted->minor,
          " on; this is ",
          c.machine.platform.version),
      Verdict::bad,
      "Upgrade macOS, or install an older torch.",
      "pytorch#164943");
}

void mps(PythonCase& c) {
  const auto& torch = c.python.torch;
  if (!c.machine.apple_silicon() || !torch.imported) return;
  const auto& device = torch.mps;
  if (torch.step == "mps" && !torch.run.ok())
    return c.add(
        "MPS",
        cat("trying it ended with ", torch.run.error),
        Verdict::bad,
        "Train on the CPU, or try another torch.",
        "pytorch#125197");
  if (torch.step == "cuda") return; // it never got here
  if (!device.built)
    return c.add(
        "MPS",
        cat("torch ", torch.version, " is built without MPS"),
        Verdict::bad,
        "pip install torch, with an arm64 Python, brings a build with MPS.");
  if (!device.available)
    return c.add(
        "MPS",
        cat("built, but not available: ", why_unavailable(c)),
        Verdict::bad,
        "Train on the CPU until that is changed.");
  if (!device.usable)
    return c.add(
        "MPS",
        cat("available, but not usable: ",
            device.error,
            c.machine.platform.vm.empty() ? "" : " (in a virtual machine)"),
        Verdict::bad,
        "Train on the CPU; virtual machines often offer a GPU they cannot use.",
        "pytorch#125197");
  c.add("MPS", "usable");
}

void cuda(PythonCase& c) {
  const auto& torch = c.python.torch;
  const auto& gpus = c.machine.gpus;
  const auto nvidia =
      std::find_if(gpus.begin(), gpus.end(), [](const machine::Gpu& gpu) {
        return gpu.vendor == "nvidia";
      });
  if (!torch.imported || nvidia == gpus.end()) return;
  if (torch.step == "cuda" && !torch.run.ok())
    c.add(
        "CUDA",
        cat("trying it ended with ", torch.run.error),
        Verdict::bad,
        "Check the driver with nvidia-smi.");
  else if (!torch.cuda.built)
    c.add(
        "CUDA",
        cat("torch ",
            torch.version,
            " is built for the CPU only, beside ",
            nvidia->model.empty() ? "an NVIDIA GPU" : nvidia->model),
        Verdict::warn,
        "Install a CUDA build of torch; pytorch.org names the command.");
  else if (!torch.cuda.usable)
    c.add(
        "CUDA",
        torch.cuda.available
            ? cat("available, but not usable: ", torch.cuda.error)
            : std::string("built, but not available: torch finds no driver it "
                          "can use"),
        Verdict::bad,
        "Check the driver with nvidia-smi; it must be new enough for this "
        "torch.");
  else
    c.add("CUDA", "usable");
}

} // namespace temper::doctor
