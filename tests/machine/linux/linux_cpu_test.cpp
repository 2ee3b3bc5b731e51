// The CPU facts, from /proc and /sys as other machines have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/machine/linux/linux_facts.h"
#include "tests/machine/fake_root.h"

namespace temper::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string cpu_file(int cpu, const std::string& name) {
  return cat("/sys/devices/system/cpu/cpu", cpu, "/", name);
}

void write_core(
    const FakeRoot& root,
    const std::vector<int>& cpus,
    const std::string& siblings) {
  for (const int cpu : cpus)
    root.write(cpu_file(cpu, "topology/core_cpus_list"), siblings + "\n");
}

void write_cache(
    const FakeRoot& root,
    int cpu,
    int index,
    const std::string& level,
    const std::string& type,
    const std::string& size) {
  const std::string cache = cpu_file(cpu, cat("cache/index", index, "/"));
  root.write(cache + "level", level + "\n");
  root.write(cache + "type", type + "\n");
  root.write(cache + "size", size + "\n");
}

constexpr const char* kXeon =
    "processor\t: 0\n"
    "vendor_id\t: GenuineIntel\n"
    "model name\t: Intel(R) Xeon(R) Platinum 8488C\n"
    "physical id\t: 0\n"
    "core id\t\t: 0\n"
    "flags\t\t: fpu sse2 sse4_2 fma f16c avx avx2 avx512f avx512dq avx512bw "
    "avx512vl avx512_vnni avx512_bf16 amx_bf16 amx_tile amx_int8\n"
    "\n"
    "processor\t: 1\n"
    "model name\t: Intel(R) Xeon(R) Platinum 8488C\n"
    "physical id\t: 0\n"
    "core id\t\t: 0\n";

TEST(LinuxCpu, AXeonIsReadInFull) {
  FakeRoot root;
  root.write("/proc/cpuinfo", kXeon);
  root.write("/sys/devices/system/cpu/online", "0-1\n");
  write_core(root, {0, 1}, "0-1");
  write_cache(root, 0, 0, "1", "Data", "48K");
  write_cache(root, 0, 1, "1", "Instruction", "32K");
  write_cache(root, 0, 2, "2", "Unified", "2048K");
  write_cache(root, 0, 3, "3", "Unified", "105M");
  const Cpu cpu = linux_cpu(root.path(), "x86_64", 2);
  EXPECT_EQ(cpu.model, "Intel(R) Xeon(R) Platinum 8488C");
  EXPECT_EQ(cpu.arch, "x86_64");
  EXPECT_EQ(cpu.chip_arch, "x86_64");
  EXPECT_EQ(cpu.logical, 2);
  EXPECT_EQ(cpu.physical, 1);
  EXPECT_EQ(cpu.performance, 1);
  EXPECT_EQ(cpu.efficiency, 0);
  EXPECT_EQ(cpu.usable, 2);
  EXPECT_EQ(cpu.simd, "AVX-512");
  EXPECT_THAT(
      cpu.features,
      ElementsAre(
          "sse4_2",
          "avx",
          "avx2",
          "fma",
          "f16c",
          "avx512f",
          "avx512bw",
          "avx512vl",
          "avx512_vnni",
          "avx512_bf16",
          "amx_tile",
          "amx_int8",
          "amx_bf16"));
  EXPECT_EQ(cpu.l1d_bytes, 48U << 10);
  EXPECT_EQ(cpu.l2_bytes, 2U << 20);
  EXPECT_EQ(cpu.l3_bytes, 105U << 20);
}

TEST(LinuxCpu, TheVectorLevelIsTheBestThatKernelsAreBuiltFor) {
  const auto simd = [](const std::string& flags) {
    FakeRoot root;
    root.write("/proc/cpuinfo", "flags : " + flags + "\n");
    return linux_cpu(root.path(), "x86_64", 1).simd;
  };
  EXPECT_EQ(simd("sse2 sse4_2 avx avx2 avx512f avx512cd"), "AVX2");
  EXPECT_EQ(simd("sse2 sse4_2 avx"), "AVX");
  EXPECT_EQ(simd("sse2 sse4_2"), "SSE4.2");
  EXPECT_EQ(simd("sse2"), "SSE2");
  EXPECT_EQ(simd("avx2x xavx"), "");
}

TEST(LinuxCpu, AGravitonIsNamedByItsPartNumber) {
  FakeRoot root;
  root.write(
      "/proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 2100.00\n"
      "Features\t: fp asimd evtstrm aes atomics fphp asimdhp asimddp sve "
      "asimdfhm i8mm bf16 svebf16 svei8mm\n"
      "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n"
      "CPU part\t: 0xd40\nCPU revision\t: 1\n\n"
      "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  const Cpu cpu = linux_cpu(root.path(), "aarch64", 0);
  EXPECT_EQ(cpu.model, "Neoverse-V1");
  EXPECT_EQ(cpu.arch, "arm64");
  EXPECT_EQ(cpu.logical, 2);
  EXPECT_EQ(cpu.physical, 0) << "nothing there says";
  EXPECT_EQ(cpu.usable, 2);
  EXPECT_EQ(cpu.simd, "SVE");
  EXPECT_THAT(
      cpu.features,
      ElementsAre(
          "asimd",
          "asimdhp",
          "asimddp",
          "asimdfhm",
          "bf16",
          "i8mm",
          "sve",
          "svebf16",
          "svei8mm"));
}

TEST(LinuxCpu, ARaspberryPiHasNeonAndFourCores) {
  FakeRoot root;
  root.write(
      "/proc/cpuinfo",
      "processor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
      "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n"
      "Hardware\t: BCM2835\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n");
  root.write("/sys/devices/system/cpu/online", "0-3\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    write_core(root, {cpu}, std::to_string(cpu));
    root.write(cpu_file(cpu, "cpu_capacity"), "1024\n");
  }
  const Cpu cpu = linux_cpu(root.path(), "aarch64", 4);
  EXPECT_EQ(cpu.model, "Cortex-A72");
  EXPECT_EQ(cpu.physical, 4);
  EXPECT_EQ(cpu.performance, 4);
  EXPECT_EQ(cpu.efficiency, 0);
  EXPECT_EQ(cpu.simd, "NEON");
}

TEST(LinuxCpu, SmallArmCoresAreToldByCapacity) {
  FakeRoot root;
  std::string cpuinfo;
  for (int cpu = 0; cpu < 8; ++cpu) {
    const bool small = cpu < 4;
    cpuinfo +=
        cat("processor : ",
            cpu,
            "\nFeatures : fp asimd\n",
            "CPU implementer : 0x41\nCPU part : ",
            small ? "0xd05" : "0xd0b",
            "\n");
    write_core(root, {cpu}, std::to_string(cpu));
    root.write(cpu_file(cpu, "cpu_capacity"), small ? "414\n" : "1024\n");
  }
  write_cache(root, 0, 0, "1", "Data", "32K");
  write_cache(root, 4, 0, "1", "Data", "64K");
  root.write("/proc/cpuinfo", cpuinfo);
  const Cpu cpu = linux_cpu(root.path(), "aarch64", 8);
  EXPECT_EQ(cpu.model, "Cortex-A55 + Cortex-A76");
  EXPECT_EQ(cpu.performance, 4);
  EXPECT_EQ(cpu.efficiency, 4);
  EXPECT_EQ(cpu.l1d_bytes, 64U << 10) << "of a performance core";
}

TEST(LinuxCpu, IntelHybridCoresAreCountedOnceWithTheirThreads) {
  FakeRoot root;
  root.write("/proc/cpuinfo", "model name : i5-12600K\nflags : avx2 fma\n");
  root.write("/sys/devices/system/cpu/online", "0-7\n");
  write_core(root, {0, 1}, "0-1");
  write_core(root, {2, 3}, "2-3");
  for (int cpu = 4; cpu < 8; ++cpu)
    write_core(root, {cpu}, std::to_string(cpu));
  root.write("/sys/devices/cpu_core/cpus", "0-3\n");
  root.write("/sys/devices/cpu_atom/cpus", "4-7\n");
  const Cpu cpu = linux_cpu(root.path(), "x86_64", 8);
  EXPECT_EQ(cpu.logical, 8);
  EXPECT_EQ(cpu.physical, 6);
  EXPECT_EQ(cpu.performance, 2);
  EXPECT_EQ(cpu.efficiency, 4);
}

TEST(LinuxCpu, FavouredCoresOfX86AreNoHybrid) {
  FakeRoot root;
  root.write("/proc/cpuinfo", "flags : avx2\n");
  root.write("/sys/devices/system/cpu/online", "0-1\n");
  for (int cpu = 0; cpu < 2; ++cpu) {
    write_core(root, {cpu}, std::to_string(cpu));
    root.write(cpu_file(cpu, "cpu_capacity"), cpu == 0 ? "1024" : "500");
  }
  EXPECT_EQ(linux_cpu(root.path(), "x86_64", 2).efficiency, 0);
}

TEST(LinuxCpu, CoresComeFromCpuinfoWhereSysIsMissing) {
  FakeRoot root;
  root.write("/proc/cpuinfo", kXeon);
  const Cpu cpu = linux_cpu(root.path(), "x86_64", 0);
  EXPECT_EQ(cpu.logical, 2);
  EXPECT_EQ(cpu.physical, 1);
  EXPECT_EQ(cpu.performance, 1);
}

TEST(LinuxCpu, AffinityAndQuotaBothBindWhatIsUsable) {
  FakeRoot root;
  root.write("/sys/devices/system/cpu/online", "0-15\n");
  EXPECT_EQ(linux_cpu(root.path(), "x86_64", 0).usable, 16);
  EXPECT_EQ(linux_cpu(root.path(), "x86_64", 4).usable, 4);
  root.write(
      "/proc/self/mountinfo",
      "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(linux_cpu(root.path(), "x86_64", 4).usable, 2.5);
  EXPECT_EQ(linux_cpu(root.path(), "x86_64", 1).usable, 1);
}

TEST(LinuxCpu, NothingReadableIsNothingClaimed) {
  const auto expect_empty = [](const FakeRoot& root, const char* what) {
    const Cpu cpu = linux_cpu(root.path(), "", 0);
    EXPECT_EQ(cpu.model, "") << what;
    EXPECT_EQ(cpu.logical, 0) << what;
    EXPECT_EQ(cpu.physical, 0) << what;
    EXPECT_EQ(cpu.performance, 0) << what;
    EXPECT_EQ(cpu.usable, 0) << what;
    EXPECT_EQ(cpu.simd, "") << what;
    EXPECT_THAT(cpu.features, IsEmpty()) << what;
    EXPECT_EQ(cpu.l1d_bytes, 0U) << what;
  };
  FakeRoot root;
  expect_empty(root, "missing");
  for (const std::string& odd :
       {std::string(),
        std::string("\n\n:\n: :\n"),
        std::string("processor"),
        std::string("processor :"),
        std::string(4096, '\0'),
        std::string(4096, '\xff'),
        std::string(5 << 20, 'p')}) {
    root.write("/proc/cpuinfo", odd);
    root.write("/sys/devices/system/cpu/online", odd);
    write_core(root, {0}, odd);
    write_cache(root, 0, 0, odd, odd, odd);
    expect_empty(root, odd.substr(0, 20).c_str());
  }
}

TEST(LinuxCpu, ImpossibleNumbersAreSurvived) {
  FakeRoot root;
  root.write(
      "/sys/devices/system/cpu/online", "0-99999999999,0-8192,7-3,2,2,-1\n");
  write_cache(root, 0, 0, "1", "Data", "99999999999999999999K");
  write_cache(root, 0, 1, "2", "Unified", "9999999999999999999K");
  write_cache(root, 0, 2, "3", "Unified", "12Q");
  const Cpu cpu = linux_cpu(root.path(), "x86_64", 0);
  EXPECT_EQ(cpu.logical, 1);
  EXPECT_EQ(cpu.l1d_bytes, 0U);
  EXPECT_EQ(cpu.l2_bytes, 0U);
  EXPECT_EQ(cpu.l3_bytes, 0U);
}

} // namespace
} // namespace temper::machine
