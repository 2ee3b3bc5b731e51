// A healthy machine for doctor's tests to make sick.
#pragma once

#include <string>

#include "temper/doctor/checks.h"

namespace temper::doctor {

inline Evidence healthy_linux() {
  Evidence evidence;
  auto& machine = evidence.machine;
  machine.platform.os = "linux";
  machine.platform.version = "Debian GNU/Linux 12 (bookworm)";
  machine.cpu.model = "Test CPU";
  machine.cpu.arch = machine.cpu.chip_arch = "x86_64";
  machine.cpu.logical = machine.cpu.physical = machine.cpu.performance = 8;
  machine.cpu.usable = 8;
  machine.cpu.simd = "AVX2";
  machine.memory.physical_bytes = std::uint64_t{16} << 30;
  machine.open_files = {1024, 1048576};
  machine.disk = {
      "/runs", std::uint64_t{500} << 30, std::uint64_t{100} << 30, "ext4"};
  machine.libtorch.present = true;
  machine.libtorch.version = machine.libtorch.built_with = "2.8.0";
  machine.libtorch.cpu_capability = "AVX2";
  machine.libtorch.default_threads = 8;
  machine.libtorch.openmp = true;
  evidence.sample.available_bytes = std::uint64_t{12} << 30;
  evidence.sample.pressure = machine::Pressure::normal;
  evidence.sample.thermal = machine::Thermal::nominal;
  evidence.devices = {{"cpu", "Test CPU", true, ""}};
  evidence.openmp_runtimes = {"/usr/lib/libgomp.so.1"};
  evidence.blas = BlasSpeed{"OpenBLAS", 70, 100};
  evidence.disk = DiskSpeed{"", 500e6, 0.002};
  return evidence;
}

inline Evidence healthy_mac() {
  Evidence evidence = healthy_linux();
  auto& machine = evidence.machine;
  machine.platform.os = "macos";
  machine.platform.version = "15.3";
  machine.platform.model = "Mac14,6";
  machine.cpu.model = "Apple M2 Max";
  machine.cpu.arch = machine.cpu.chip_arch = "arm64";
  machine.cpu.simd = "NEON";
  machine.cpu.efficiency = 4;
  machine.gpus = {{"apple", "Apple M2 Max", 38, 0, 0}};
  machine.libtorch.mps_built = machine.libtorch.mps_available = true;
  machine.libtorch.cpu_capability = "DEFAULT";
  evidence.devices = {
      {"mps", "Apple M2 Max", true, ""}, {"cpu", "Apple M2 Max", true, ""}};
  evidence.openmp_runtimes = {"/opt/homebrew/lib/libomp.dylib"};
  evidence.blas->name = "Accelerate";
  return evidence;
}

// The row of that name; an empty one when the check had nothing to say.
inline Check find(const std::vector<Check>& checks, const std::string& name) {
  for (const auto& check : checks)
    if (check.name == name) return check;
  return {};
}

inline Check finding(const Evidence& evidence, const std::string& name) {
  return find(run_checks(evidence), name);
}

} // namespace temper::doctor
