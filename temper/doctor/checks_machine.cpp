#include "temper/base/text.h"
#include "temper/doctor/checks.h"

namespace temper::doctor {
namespace {

constexpr const char* kMachineGroup = "machine";
using Found = std::optional<Check>;

Found system(const Evidence& evidence) {
  const auto& platform = evidence.machine.platform;
  std::string found = platform.os == "macos" ? "macOS " : "";
  found += platform.version.empty() ? platform.os : platform.version;
  if (!platform.model.empty()) found += cat(", ", platform.model);
  if (!platform.container.empty())
    found += cat(", in a container (", platform.container, ")");
  return Check{kMachineGroup, "system", found, Verdict::ok, "", ""};
}

Found processor(const Evidence& evidence) {
  const auto& cpu = evidence.machine.cpu;
  std::string found = cpu.model.empty() ? "unknown model" : cpu.model;
  if (cpu.efficiency > 0)
    found += cat(
        ", ", cpu.performance, " fast + ", cpu.efficiency, " efficient cores");
  else
    found += cat(
        ", ", plural(cpu.physical > 0 ? cpu.physical : cpu.logical, "core"));
  found += cat(", ", cpu.chip_arch.empty() ? cpu.arch : cpu.chip_arch);
  if (!cpu.simd.empty()) found += cat(", ", cpu.simd);
  return Check{kMachineGroup, "processor", found, Verdict::ok, "", ""};
}

Found memory(const Evidence& evidence) {
  const auto& memory = evidence.machine.memory;
  Check check{kMachineGroup, "memory", "", Verdict::ok, "", ""};
  check.found =
      cat(bytes_text(memory.physical_bytes),
          ", ",
          bytes_text(evidence.sample.available_bytes),
          " available");
  if (memory.physical_bytes == 0) {
    check.found = "could not be read";
    check.verdict = Verdict::warn;
    check.advice =
        "temper cannot plan memory; set memory.budget in the config by hand.";
  }
  return check;
}

Found rosetta(const Evidence& evidence) {
  const auto& machine = evidence.machine;
  if (!machine.apple_silicon() && !machine.platform.rosetta)
    return std::nullopt;
  if (!machine.platform.rosetta)
    return Check{
        kMachineGroup,
        "Rosetta",
        "not used, native arm64",
        Verdict::ok,
        "",
        ""};
  return Check{
      kMachineGroup,
      "Rosetta",
      "this temper is x86 code translated on an Apple chip; its LibTorch is "
      "x86 too, without MPS and several times slower",
      Verdict::bad,
      "Install the arm64 LibTorch (brew install pytorch with the Homebrew in "
      "/opt/homebrew, from a terminal that does not run under Rosetta) and "
      "build temper again.",
      "pytorch#114602"};
}

Found virtual_machine(const Evidence& evidence) {
  const auto& vm = evidence.machine.platform.vm;
  if (vm.empty()) return std::nullopt;
  return Check{
      kMachineGroup,
      "virtual machine",
      cat("yes",
          vm == "unknown" ? "" : cat(" (", vm, ")"),
          "; other guests may share its cores"),
      Verdict::note,
      "Compare speeds only within one run.",
      ""};
}

Found swap(const Evidence& evidence) {
  const auto used = evidence.sample.swap_used_bytes;
  const auto physical = evidence.machine.memory.physical_bytes;
  Check check{kMachineGroup, "swap", "not in use", Verdict::ok, "", ""};
  if (used == 0) return check;
  check.found = cat(bytes_text(used), " in use");
  // macOS keeps a little swap filled at all times; a tenth of memory is not
  // a little.
  if (used * 10 < physical) return check;
  check.verdict = Verdict::warn;
  check.advice =
      "Close what fills the memory before a long run: training from swap is "
      "tens of times slower.";
  return check;
}

Found memory_pressure(const Evidence& evidence) {
  using machine::Pressure;
  const auto& sample = evidence.sample;
  if (sample.pressure == Pressure::unknown) return std::nullopt;
  Check check{
      kMachineGroup,
      "memory pressure",
      machine::to_string(sample.pressure),
      Verdict::ok,
      "",
      ""};
  if (sample.memory_stall)
    check.found +=
        cat(", tasks waited for memory ",
            decimals(*sample.memory_stall * 100, 1),
            " % of the last 10 s");
  if (sample.pressure == Pressure::normal) return check;
  check.verdict =
      sample.pressure == Pressure::critical ? Verdict::bad : Verdict::warn;
  check.advice =
      "Close programs that hold memory; under pressure the system may stop "
      "the run.";
  return check;
}

Found thermal(const Evidence& evidence) {
  using machine::Thermal;
  const auto level = evidence.sample.thermal;
  if (level == Thermal::unknown) return std::nullopt;
  Check check{
      kMachineGroup,
      "thermal level",
      machine::to_string(level),
      Verdict::ok,
      "",
      ""};
  if (level == Thermal::nominal) return check;
  check.verdict = level == Thermal::critical ? Verdict::bad : Verdict::warn;
  check.advice =
      "The machine slows itself down; let it cool and give it air before you "
      "measure or train.";
  return check;
}

Found load(const Evidence& evidence) {
  if (!evidence.load) return std::nullopt;
  Check check{
      kMachineGroup,
      "load",
      machine::to_text(*evidence.load),
      Verdict::ok,
      "",
      ""};
  if (!evidence.load->busy()) return check;
  check.verdict = Verdict::note;
  check.advice =
      "Runs are slower meanwhile, and several threads may stall: settings that "
      "are measured now are not remembered. Let the other programs finish "
      "before a long run.";
  return check;
}

} // namespace

std::vector<CheckFunction> machine_checks() {
  return {
      system,
      processor,
      memory,
      rosetta,
      virtual_machine,
      swap,
      memory_pressure,
      thermal,
      load};
}

} // namespace temper::doctor
