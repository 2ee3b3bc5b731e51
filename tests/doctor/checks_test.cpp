#include "temper/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_evidence.h"
#include "temper/doctor/report.h"

namespace temper::doctor {
namespace {

using testing::HasSubstr;

// A healthy Linux box made sick, and what doctor must say of it.
struct Sick {
  Evidence evidence = healthy_linux();

  void expect(const char* name, Verdict verdict, const char* part) const {
    const Check check = finding(evidence, name);
    EXPECT_EQ(to_string(check.verdict), std::string(to_string(verdict)))
        << name << ": " << check.found;
    EXPECT_THAT(check.found + " | " + check.advice, HasSubstr(part));
    const bool needs_advice =
        verdict == Verdict::warn || verdict == Verdict::bad;
    EXPECT_TRUE(!needs_advice || !check.advice.empty())
        << name << " does not say what to do";
  }
};

TEST(Checks, HealthyMachinesHaveNothingToComplainAbout) {
  for (const auto& evidence : {healthy_linux(), healthy_mac()})
    for (const auto& check : run_checks(evidence))
      EXPECT_EQ(check.verdict, Verdict::ok) << check.name << check.found;
}

TEST(Checks, GroupsComeInTheOrderOfTheReport) {
  std::vector<std::string> groups;
  for (const auto& check : run_checks(healthy_linux()))
    if (groups.empty() || groups.back() != check.group)
      groups.push_back(check.group);
  EXPECT_THAT(
      groups,
      testing::ElementsAre("machine", "build", "limits", "devices", "storage"));
}

TEST(Checks, RosettaIsBad) {
  Sick mac{healthy_mac()};
  mac.evidence.machine.platform.rosetta = true;
  mac.evidence.machine.cpu.arch = "x86_64";
  mac.expect("Rosetta", Verdict::bad, "arm64 LibTorch");
}

TEST(Checks, SwapInUseIsAWarningOnlyWhenItIsMuch) {
  Sick sick;
  sick.evidence.sample.swap_used_bytes = std::uint64_t{4} << 30;
  sick.expect("swap", Verdict::warn, "4.0 GiB in use");
  sick.evidence.sample.swap_used_bytes = std::uint64_t{100} << 20;
  sick.expect("swap", Verdict::ok, "100 MiB in use");
}

TEST(Checks, MemoryPressureIsReported) {
  Sick sick;
  sick.evidence.sample.pressure = machine::Pressure::warning;
  sick.expect("memory pressure", Verdict::warn, "warning");
  sick.evidence.sample.pressure = machine::Pressure::critical;
  sick.expect("memory pressure", Verdict::bad, "critical");
}

TEST(Checks, HeatIsReported) {
  Sick sick;
  sick.evidence.sample.thermal = machine::Thermal::heavy;
  sick.expect("thermal level", Verdict::warn, "cool");
  sick.evidence.sample.thermal = machine::Thermal::critical;
  sick.expect("thermal level", Verdict::bad, "cool");
}

TEST(Checks, OtherProgramsOnTheProcessorAreANote) {
  Sick sick;
  sick.evidence.load = machine::Load{.others = 0.2, .cores = 8, .usable = 8};
  sick.expect("load", Verdict::ok, "0.2 of 8 cores used by others");
  sick.evidence.load->others = 6.5;
  sick.evidence.load->average = 12;
  sick.expect("load", Verdict::note, "6.5 of 8 cores, load 12.0");
}

TEST(Checks, AVirtualMachineIsANote) {
  Sick sick;
  sick.evidence.machine.platform.vm = "kvm";
  sick.expect("virtual machine", Verdict::note, "kvm");
}

TEST(Checks, UnreadableMemoryIsAWarning) {
  Sick sick;
  sick.evidence.machine.memory.physical_bytes = 0;
  sick.expect("memory", Verdict::warn, "memory.budget");
}

TEST(Checks, ABuildWithoutLibTorchIsBad) {
  Sick sick;
  sick.evidence.machine.libtorch = {};
  sick.evidence.blas.reset();
  sick.expect("LibTorch", Verdict::bad, "without LibTorch");
}

TEST(Checks, AnotherLibTorchThanCompiledForIsBad) {
  Sick sick;
  sick.evidence.machine.libtorch.built_with = "2.7.1";
  sick.expect("LibTorch", Verdict::bad, "compiled for 2.7.1");
  sick.evidence.machine.libtorch.built_with = "2.8.3";
  sick.expect("LibTorch", Verdict::ok, "2.8.0");
}

TEST(Checks, PlainKernelsOnAVectorProcessorAreAWarning) {
  Sick sick;
  sick.evidence.machine.libtorch.cpu_capability = "DEFAULT";
  sick.expect("CPU kernels", Verdict::warn, "ATEN_CPU_CAPABILITY");
}

TEST(Checks, ThreadsLibTorchWouldUseAreComparedWithTheCores) {
  Sick sick;
  sick.evidence.machine.libtorch.default_threads = 1;
  sick.expect("threads", Verdict::note, "1 of 8 fast cores");
  sick.evidence.machine.libtorch.default_threads = 16;
  sick.expect("threads", Verdict::note, "slow every operator");
}

TEST(Checks, ReferenceBlasIsBadAndASlowOtherOneAWarning) {
  Sick sick;
  sick.evidence.blas = BlasSpeed{"reference BLAS", 4, 180};
  sick.expect("BLAS", Verdict::bad, "libopenblas0");
  sick.expect("BLAS", Verdict::bad, "2 % of its peak");
  sick.evidence.blas = BlasSpeed{"OpenBLAS", 4, 180};
  sick.expect("BLAS", Verdict::warn, "run temper doctor again");
  sick.evidence.blas = BlasSpeed{"reference BLAS", 60, 100};
  sick.expect("BLAS", Verdict::ok, "60.0 GFLOP/s");
}

TEST(Checks, TwoOpenmpRuntimesAreBad) {
  Sick sick;
  sick.evidence.openmp_runtimes = {"/a/libgomp.so.1", "/b/libiomp5.so"};
  sick.expect("OpenMP runtime", Verdict::bad, "/b/libiomp5.so");
}

TEST(Checks, FewOpenFilesAreNotedAndAHardLimitWarnedAbout) {
  Sick sick;
  sick.evidence.machine.open_files = {256, 1048576};
  sick.expect("open files", Verdict::note, "raises it for itself");
  sick.evidence.machine.open_files = {256, 512};
  sick.expect("open files", Verdict::warn, "hard limit");
}

TEST(Checks, AContainersMemoryLimitIsComparedWithPhysicalMemory) {
  Sick sick;
  sick.evidence.machine.memory.limit_bytes = std::uint64_t{8} << 30;
  sick.evidence.machine.memory.limit_source = "cgroup v2 /docker/1";
  sick.expect("memory limit", Verdict::note, "8.0 GiB of 16.0 GiB (cgroup v2");
  sick.evidence.machine.memory.limit_bytes = std::uint64_t{1} << 30;
  sick.expect("memory limit", Verdict::warn, "1.0 GiB of 16.0 GiB");
}

TEST(Checks, ACpuQuotaIsANote) {
  Sick sick;
  sick.evidence.machine.cpu.usable = 1.5;
  sick.expect("CPU limit", Verdict::note, "1.5 of 8 cores");
}

TEST(Checks, DangerousWatermarksAreFound) {
  constexpr const char* kHigh = "PYTORCH_MPS_HIGH_WATERMARK_RATIO";
  Sick sick;
  sick.evidence.environment = {{kHigh, "0.0"}};
  sick.expect("MPS watermark", Verdict::bad, "Killed: 9");
  sick.evidence.environment = {{kHigh, "0.7"}};
  sick.expect("MPS watermark", Verdict::warn, "invalid low watermark");
  sick.evidence.environment = {{kHigh, "1.8"}};
  sick.expect("MPS watermark", Verdict::warn, "swaps");
  sick.evidence.environment = {{kHigh, "all"}};
  sick.expect("MPS watermark", Verdict::bad, "from 0 to 2");
  sick.evidence.environment = {
      {kHigh, "0.9"}, {"PYTORCH_MPS_LOW_WATERMARK_RATIO", "0.8"}};
  sick.expect("MPS watermark", Verdict::ok, "0.9");
}

TEST(Checks, DuplicateOpenmpPermissionIsBad) {
  Sick sick;
  sick.evidence.environment = {{"KMP_DUPLICATE_LIB_OK", "TRUE"}};
  sick.expect("KMP_DUPLICATE_LIB_OK", Verdict::bad, "Unset it");
}

TEST(Checks, ThreadVariablesAreNoted) {
  Sick sick;
  sick.evidence.environment = {{"OMP_NUM_THREADS", "1"}};
  sick.expect("OMP_NUM_THREADS", Verdict::note, "set to 1");
}

TEST(Checks, AGpuThatIsThereAndDoesNotWorkIsBadWithItsReason) {
  Sick mac{healthy_mac()};
  mac.evidence.devices[0] = {"mps", "Apple M2 Max", false, "command buffer"};
  mac.expect("mps", Verdict::bad, "does not work: command buffer");
  mac.evidence.machine.platform.vm = "apple";
  mac.expect("mps", Verdict::warn, "Virtual machines report MPS");
}

TEST(Checks, ACpuThatCannotComputeIsBad) {
  Sick sick;
  sick.evidence.devices[0] = {"cpu", "Test CPU", false, "illegal instruction"};
  sick.expect("cpu", Verdict::bad, "does not work: illegal instruction");
}

TEST(Checks, CudaWithoutAGpuIsANoteAndWithOneBad) {
  Sick sick;
  sick.evidence.machine.libtorch.cuda_built = true;
  sick.evidence.devices.insert(
      sick.evidence.devices.begin(), {"cuda:0", "", false, "no driver"});
  sick.expect("cuda:0", Verdict::note, "no driver");
  sick.evidence.machine.gpus = {{"nvidia", "A100"}};
  sick.expect("cuda:0", Verdict::bad, "nvidia-smi");
}

TEST(Checks, ACpuOnlyLibTorchBesideAGpuIsBad) {
  Sick sick;
  sick.evidence.machine.gpus = {{"nvidia", "A100"}};
  sick.expect("GPU without backend", Verdict::bad, "CUDA LibTorch");
  Sick mac{healthy_mac()};
  mac.evidence.machine.libtorch.mps_built = false;
  mac.expect("GPU without backend", Verdict::bad, "without MPS");
}

TEST(Checks, MacosTooOldForThisLibTorchsMpsIsBad) {
  const auto verdict = [](const char* macos, const char* libtorch) {
    Evidence evidence = healthy_mac();
    evidence.machine.platform.version = macos;
    evidence.machine.libtorch.version = libtorch;
    evidence.machine.libtorch.built_with = libtorch;
    return finding(evidence, "macOS for MPS").verdict;
  };
  EXPECT_EQ(verdict("12.2", "2.5.1"), Verdict::bad);
  EXPECT_EQ(verdict("12.3", "2.5.1"), Verdict::ok);
  EXPECT_EQ(verdict("12.7", "2.6.0"), Verdict::bad);
  EXPECT_EQ(verdict("13.0", "2.8.0"), Verdict::ok);
  EXPECT_EQ(verdict("13.6", "2.9.0"), Verdict::bad);
  EXPECT_EQ(verdict("14.0", "2.14.0"), Verdict::ok);
}

TEST(Checks, ADeviceThatCannotBeHadIsBad) {
  Sick sick;
  sick.evidence.requested_device = "gpu";
  sick.expect("choice", Verdict::bad, "looked for CUDA and MPS");
  sick.evidence.requested_device = "auto";
  sick.expect("choice", Verdict::ok, "takes cpu");
}

TEST(Checks, LowDiskIsAWarningAndNextToNoneIsBad) {
  Sick sick;
  sick.evidence.machine.disk.free_bytes = std::uint64_t{3} << 30;
  sick.expect("disk space", Verdict::warn, "3.0 GiB free");
  sick.evidence.machine.disk.free_bytes = std::uint64_t{100} << 20;
  sick.expect("disk space", Verdict::bad, "100 MiB free");
}

TEST(Checks, ASlowOrUnwritableDiskIsFound) {
  Sick sick;
  sick.evidence.disk = DiskSpeed{"", 5e6, 0.002};
  sick.expect("disk speed", Verdict::warn, "local disk");
  sick.evidence.disk = DiskSpeed{"", 500e6, 2};
  sick.expect("disk speed", Verdict::warn, "2.0 s");
  sick.evidence.disk =
      DiskSpeed{"cannot create a file: Permission denied", 0, 0};
  sick.expect("disk speed", Verdict::bad, "Permission denied");
}

} // namespace
} // namespace temper::doctor
