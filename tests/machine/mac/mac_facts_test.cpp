#include "temper/machine/mac/mac_facts.h"

#include <gtest/gtest.h>

#include "recorded_mac.h"

namespace temper::machine {
namespace {

using Words = std::vector<std::string>;

TEST(MacFacts, AnM1CountsItsPerformanceAndEfficiencyCores) {
  RecordedMac mac = m1();
  const Cpu cpu = mac_cpu(mac);
  EXPECT_EQ(cpu.model, "Apple M1");
  EXPECT_EQ(cpu.arch, "arm64");
  EXPECT_EQ(cpu.chip_arch, "arm64");
  EXPECT_EQ(cpu.logical, 8);
  EXPECT_EQ(cpu.physical, 8);
  EXPECT_EQ(cpu.performance, 4);
  EXPECT_EQ(cpu.efficiency, 4);
  EXPECT_EQ(cpu.usable, 8.0);
  EXPECT_EQ(cpu.simd, "NEON");
  EXPECT_EQ(cpu.features, (Words{"fp16", "dotprod"}));

  mac = m1_max();
  EXPECT_EQ(mac_cpu(mac).performance, 8);
  EXPECT_EQ(mac_cpu(mac).efficiency, 2);
}

TEST(MacFacts, CachesAreThoseOfAPerformanceCore) {
  RecordedMac mac = m1();
  const Cpu cpu = mac_cpu(mac);
  EXPECT_EQ(cpu.l1d_bytes, 131072u);
  EXPECT_EQ(cpu.l2_bytes, 12582912u);
  EXPECT_EQ(cpu.l3_bytes, 0u);
}

TEST(MacFacts, TheSecondLevelIsNotAlwaysTheEfficientOne) {
  RecordedMac mac = m1();
  mac.texts["hw.perflevel0.name"] = "Super";
  mac.texts["hw.perflevel1.name"] = "Performance";
  EXPECT_EQ(mac_cpu(mac).performance, 8);
  EXPECT_EQ(mac_cpu(mac).efficiency, 0);

  mac.texts.erase("hw.perflevel0.name");
  mac.texts.erase("hw.perflevel1.name");
  EXPECT_EQ(mac_cpu(mac).performance, 4);
  EXPECT_EQ(mac_cpu(mac).efficiency, 4);
}

TEST(MacFacts, ThePlatformIsNamedWithItsVersions) {
  RecordedMac mac = m1_max();
  const Platform platform = mac_platform(mac);
  EXPECT_EQ(platform.os, "macos");
  EXPECT_EQ(platform.version, "15.3");
  EXPECT_EQ(platform.kernel, "24.3.0");
  EXPECT_EQ(platform.model, "MacBookPro18,2");
  EXPECT_EQ(platform.vm, "");
  EXPECT_FALSE(platform.rosetta);
}

TEST(MacFacts, UnderRosettaTheChipIsToldApartFromTheProcess) {
  RecordedMac mac = m2_under_rosetta();
  EXPECT_TRUE(mac_platform(mac).rosetta);
  const Cpu cpu = mac_cpu(mac);
  EXPECT_EQ(cpu.arch, "x86_64");
  EXPECT_EQ(cpu.chip_arch, "arm64");
  EXPECT_EQ(cpu.model, "Apple M2");
  EXPECT_EQ(cpu.performance, 4);
  EXPECT_EQ(cpu.efficiency, 4);
  // What the translated process may execute, not what the chip could.
  EXPECT_EQ(cpu.simd, "SSE4.2");
  EXPECT_EQ(cpu.features, (Words{"sse4_2"}));

  mac.numbers.erase("hw.optional.arm64");
  EXPECT_EQ(mac_cpu(mac).chip_arch, "arm64");
  mac.gpus.clear();
  EXPECT_EQ(mac_cpu(mac).model, "");
}

TEST(MacFacts, AnIntelMacIsNoAppleSilicon) {
  RecordedMac mac = intel_i9();
  Machine machine;
  machine.platform = mac_platform(mac);
  machine.cpu = mac_cpu(mac);
  EXPECT_FALSE(machine.apple_silicon());
  EXPECT_FALSE(machine.platform.rosetta);
  EXPECT_EQ(machine.cpu.chip_arch, "x86_64");
  EXPECT_EQ(machine.cpu.logical, 16);
  EXPECT_EQ(machine.cpu.physical, 8);
  EXPECT_EQ(machine.cpu.performance, 8);
  EXPECT_EQ(machine.cpu.efficiency, 0);
  EXPECT_EQ(machine.cpu.simd, "AVX2");
  EXPECT_EQ(
      machine.cpu.features, (Words{"sse4_2", "avx", "f16c", "fma", "avx2"}));
  EXPECT_EQ(machine.cpu.l1d_bytes, 32768u);
  EXPECT_EQ(machine.cpu.l2_bytes, 262144u);
  EXPECT_EQ(machine.cpu.l3_bytes, 16777216u);

  mac.numbers["hw.optional.avx512f"] = 1;
  EXPECT_EQ(mac_cpu(mac).simd, "AVX-512");
}

TEST(MacFacts, AnIntelMacsGpusAreNotTakenForApples) {
  RecordedMac mac = intel_i9();
  const std::vector<Gpu> gpus = mac_gpus(mac);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].vendor, "intel");
  EXPECT_EQ(gpus[0].memory_bytes, 0u);
  EXPECT_EQ(gpus[1].vendor, "amd");
  EXPECT_EQ(gpus[1].model, "AMD Radeon Pro 5500M");
  EXPECT_EQ(gpus[1].cores, 0);
  EXPECT_EQ(gpus[1].memory_bytes, std::uint64_t{8176} << 20);
  EXPECT_EQ(gpus[1].recommended_bytes, 0u);
  // Asking would power up the discrete one.
  EXPECT_EQ(mac.metal_asked, 0);
}

TEST(MacFacts, AppleSiliconsGpuSharesTheMemory) {
  RecordedMac mac = m1_max();
  const std::vector<Gpu> gpus = mac_gpus(mac);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].vendor, "apple");
  EXPECT_EQ(gpus[0].model, "Apple M1 Max");
  EXPECT_EQ(gpus[0].cores, 32);
  EXPECT_EQ(gpus[0].memory_bytes, 68719476736u);
  EXPECT_EQ(gpus[0].recommended_bytes, 51539607552u);
}

TEST(MacFacts, TheOwnersWiredLimitReplacesMetalsRecommendation) {
  RecordedMac mac = m1_max();
  mac.numbers["iogpu.wired_limit_mb"] = 57344;
  EXPECT_EQ(mac_gpus(mac)[0].recommended_bytes, std::uint64_t{57344} << 20);
  mac.numbers["iogpu.wired_limit_mb"] = 1000000; // more than there is
  EXPECT_EQ(mac_gpus(mac)[0].recommended_bytes, 68719476736u);
}

TEST(MacFacts, AVirtualMachineIsSeenAndItsGpuNamedByMetal) {
  RecordedMac mac = apple_vm();
  EXPECT_EQ(mac_platform(mac).vm, "apple");
  EXPECT_EQ(mac_cpu(mac).performance, 3);
  EXPECT_EQ(mac_cpu(mac).efficiency, 0);
  const std::vector<Gpu> gpus = mac_gpus(mac);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].vendor, "apple");
  EXPECT_EQ(gpus[0].model, "Apple Paravirtual device");
  EXPECT_EQ(gpus[0].cores, 0);
  EXPECT_EQ(gpus[0].memory_bytes, 0u);
  EXPECT_EQ(gpus[0].recommended_bytes, 1610612736u);

  mac.gpus.clear(); // some have no registry entry for it
  ASSERT_EQ(mac_gpus(mac).size(), 1u);
  EXPECT_EQ(mac_gpus(mac)[0].model, "Apple Paravirtual device");

  mac.texts["hw.model"] = "VMware20,1";
  EXPECT_EQ(mac_platform(mac).vm, "vmware");
  mac.texts["hw.model"] = "Mac14,2";
  EXPECT_EQ(mac_platform(mac).vm, "unknown");
}

TEST(MacFacts, MemoryHasSwapAndTheLimitThatIsTighter) {
  RecordedMac mac = m1();
  Memory memory = mac_memory(mac, std::nullopt);
  EXPECT_EQ(memory.physical_bytes, 8589934592u);
  EXPECT_EQ(memory.swap_bytes, 2147483648u);
  EXPECT_EQ(memory.page_bytes, 16384u);
  EXPECT_EQ(memory.limit_bytes, std::nullopt);
  EXPECT_EQ(memory.usable_bytes(), 8589934592u);

  memory = mac_memory(mac, 4294967296u);
  EXPECT_EQ(memory.usable_bytes(), 4294967296u);
  EXPECT_EQ(memory.limit_source, "RLIMIT_AS");

  memory = mac_memory(mac, 17179869184u);
  EXPECT_EQ(memory.limit_bytes, std::nullopt);
  EXPECT_EQ(memory.limit_source, "");
}

TEST(MacFacts, TheDiskIsThatOfTheNearestExistingParent) {
  RecordedMac mac;
  mac.volumes["/Users/ada"] = {494384795648, 120034123776, "apfs"};
  mac.volumes["/"] = {1, 1, "wrong"};
  const Disk disk = mac_disk(mac, "/Users/ada/runs/today");
  EXPECT_EQ(disk.path, "/Users/ada/runs/today");
  EXPECT_EQ(disk.total_bytes, 494384795648u);
  EXPECT_EQ(disk.free_bytes, 120034123776u);
  EXPECT_EQ(disk.filesystem, "apfs");

  const std::string here = std::filesystem::current_path().string();
  mac.volumes[here] = {1000, 500, "here"};
  EXPECT_EQ(mac_disk(mac, "runs/today").filesystem, "here");
  EXPECT_EQ(mac_disk(mac, "runs/today").path, here + "/runs/today");
  EXPECT_EQ(mac_disk(mac, "").filesystem, "here");
  EXPECT_EQ(mac_disk(mac, ".").path, here);
}

TEST(MacFacts, WhatTheSystemDoesNotTellIsNotGuessed) {
  RecordedMac mac; // answers nothing
  const Platform platform = mac_platform(mac);
  EXPECT_EQ(platform.version, "");
  EXPECT_EQ(platform.vm, "");
  EXPECT_FALSE(platform.rosetta);
  const Cpu cpu = mac_cpu(mac);
  EXPECT_EQ(cpu.model, "");
  EXPECT_EQ(cpu.arch, "");
  EXPECT_EQ(cpu.chip_arch, "");
  EXPECT_EQ(cpu.logical, 0);
  EXPECT_EQ(cpu.performance, 0);
  EXPECT_EQ(cpu.usable, 0.0);
  EXPECT_EQ(cpu.simd, "");
  EXPECT_EQ(cpu.l1d_bytes, 0u);
  EXPECT_EQ(mac_memory(mac, std::nullopt).usable_bytes(), 0u);
  EXPECT_TRUE(mac_gpus(mac).empty());
  EXPECT_EQ(mac_disk(mac, "/a/b").total_bytes, 0u);
  EXPECT_EQ(mac_disk(mac, "a/b").filesystem, "");
}

TEST(MacFacts, AnAppleChipThatHidesItsLevelsHasNoCountOfEither) {
  RecordedMac mac = m1();
  mac.numbers.erase("hw.perflevel0.physicalcpu");
  mac.numbers.erase("hw.perflevel1.physicalcpu");
  const Cpu cpu = mac_cpu(mac);
  EXPECT_EQ(cpu.physical, 8);
  EXPECT_EQ(cpu.performance, 0);
  EXPECT_EQ(cpu.efficiency, 0);
}

TEST(MacFacts, AGpuOfAnUnknownDriverHasNoVendor) {
  EXPECT_EQ(mac_gpu_vendor({"NVDAStartup", "", {}, {}, {}}), "nvidia");
  EXPECT_EQ(mac_gpu_vendor({"QxlAccelerator", "", {}, {}, {}}), "");
}

} // namespace
} // namespace temper::machine
