// Macs to test with: what each answers to MacSource's questions. The values
// are those published for such machines, put together by hand; a key a machine
// does not have is simply not there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "temper/machine/mac/mac_source.h"

namespace temper::machine {

class RecordedMac : public MacSource {
 public:
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, std::string> texts;
  std::optional<MacPages> page_counts;
  std::optional<MacSwap> swap_space;
  std::optional<MacFootprint> task;
  std::optional<std::vector<MacTicks>> core_ticks;
  std::optional<double> cpu_s;
  std::optional<int> descriptors;
  std::vector<MacAccelerator> gpus;
  std::optional<MacMetal> metal_device;
  int metal_asked = 0;
  std::optional<std::uint64_t> thermal;
  std::optional<std::vector<MacInterface>> network;
  std::optional<MacDiskBytes> drives;
  std::map<std::string, MacVolume> volumes;

  std::optional<std::int64_t> number(const std::string& key) override {
    const auto found = numbers.find(key);
    if (found == numbers.end()) return std::nullopt;
    return found->second;
  }
  std::optional<std::string> text(const std::string& key) override {
    const auto found = texts.find(key);
    if (found == texts.end()) return std::nullopt;
    return found->second;
  }
  std::optional<MacPages> pages() override {
    return page_counts;
  }
  std::optional<MacSwap> swap() override {
    return swap_space;
  }
  std::optional<MacFootprint> footprint() override {
    return task;
  }
  std::optional<std::vector<MacTicks>> ticks() override {
    return core_ticks;
  }
  std::optional<double> process_cpu_s() override {
    return cpu_s;
  }
  std::optional<int> open_files() override {
    return descriptors;
  }
  std::vector<MacAccelerator> accelerators() override {
    return gpus;
  }
  std::optional<MacMetal> metal() override {
    metal_asked++;
    return metal_device;
  }
  std::optional<std::uint64_t> thermal_level() override {
    return thermal;
  }
  std::optional<std::vector<MacInterface>> interfaces() override {
    return network;
  }
  std::optional<MacDiskBytes> disk_bytes() override {
    return drives;
  }
  std::optional<MacVolume> volume(const std::filesystem::path& path) override {
    const auto found = volumes.find(path.string());
    if (found == volumes.end()) return std::nullopt;
    return found->second;
  }
};

inline constexpr std::int64_t kGib = std::int64_t{1} << 30;

// MacBook Air: 4 + 4 cores, the GPU with 7, 8 GB, macOS 14.
inline RecordedMac m1() {
  RecordedMac mac;
  mac.numbers = {
      {"hw.optional.arm64", 1},
      {"sysctl.proc_translated", 0},
      {"kern.hv_vmm_present", 0},
      {"hw.memsize", 8 * kGib},
      {"hw.pagesize", 16384},
      {"hw.ncpu", 8},
      {"hw.logicalcpu", 8},
      {"hw.physicalcpu", 8},
      {"hw.nperflevels", 2},
      {"hw.perflevel0.physicalcpu", 4},
      {"hw.perflevel0.l1dcachesize", 131072},
      {"hw.perflevel0.l2cachesize", 12582912},
      {"hw.perflevel1.physicalcpu", 4},
      {"hw.perflevel1.l1dcachesize", 65536},
      {"hw.perflevel1.l2cachesize", 4194304},
      {"hw.l1dcachesize", 65536},
      {"hw.l2cachesize", 4194304},
      {"hw.optional.arm.FEAT_FP16", 1},
      {"hw.optional.arm.FEAT_BF16", 0},
      {"hw.optional.arm.FEAT_DotProd", 1},
      {"hw.optional.arm.FEAT_I8MM", 0},
      {"iogpu.wired_limit_mb", 0},
      {"kern.memorystatus_vm_pressure_level", 1}};
  mac.texts = {
      {"machdep.cpu.brand_string", "Apple M1"},
      {"hw.machine", "arm64"},
      {"hw.model", "MacBookAir10,1"},
      {"hw.perflevel0.name", "Performance"},
      {"hw.perflevel1.name", "Efficiency"},
      {"kern.osproductversion", "14.5"},
      {"kern.osrelease", "23.5.0"}};
  mac.gpus = {
      {"AGXAcceleratorG13G",
       "Apple M1",
       7,
       std::nullopt,
       {{"Device Utilization %", 37},
        {"Renderer Utilization %", 36},
        {"Tiler Utilization %", 12},
        {"In use system memory", 1316438016},
        {"Alloc system memory", 3865837568},
        {"recoveryCount", 2}}}};
  mac.metal_device = {"Apple M1", 5726633984};
  mac.swap_space = {2147483648, 1288175616};
  mac.page_counts = {16384, 120000, 115000, 98000, 3000, 90000, 5000, 110000};
  mac.task = {900000000, 1200000000};
  mac.core_ticks = {{{100, 50, 800, 10}, {300, 100, 600, 0}}};
  mac.cpu_s = 12.5;
  mac.descriptors = 31;
  mac.thermal = 0;
  mac.network = {{{"lo0", 5000, 5000}, {"en0", 1000, 400}}};
  mac.drives = {7000, 9000};
  return mac;
}

// MacBook Pro: 8 + 2 cores, the GPU with 32, 64 GB, macOS 15.
inline RecordedMac m1_max() {
  RecordedMac mac = m1();
  mac.numbers["hw.memsize"] = 64 * kGib;
  mac.numbers["hw.ncpu"] = 10;
  mac.numbers["hw.logicalcpu"] = 10;
  mac.numbers["hw.physicalcpu"] = 10;
  mac.numbers["hw.perflevel0.physicalcpu"] = 8;
  mac.numbers["hw.perflevel1.physicalcpu"] = 2;
  mac.texts["machdep.cpu.brand_string"] = "Apple M1 Max";
  mac.texts["hw.model"] = "MacBookPro18,2";
  mac.texts["kern.osproductversion"] = "15.3";
  mac.texts["kern.osrelease"] = "24.3.0";
  mac.gpus[0].class_name = "AGXAcceleratorG13X";
  mac.gpus[0].model = "Apple M1 Max";
  mac.gpus[0].cores = 32;
  mac.metal_device = {"Apple M1 Max", 51539607552};
  return mac;
}

// MacBook Air M2, 16 GB, asked by an x86_64 process.
inline RecordedMac m2_under_rosetta() {
  RecordedMac mac = m1();
  mac.numbers["sysctl.proc_translated"] = 1;
  mac.numbers["hw.memsize"] = 16 * kGib;
  mac.numbers["hw.pagesize"] = 4096;
  mac.numbers["hw.perflevel0.l2cachesize"] = 16777216;
  mac.numbers["hw.optional.sse4_2"] = 1;
  mac.numbers["hw.optional.avx1_0"] = 0;
  mac.numbers["hw.optional.avx2_0"] = 0;
  mac.texts["machdep.cpu.brand_string"] = "VirtualApple @ 2.50GHz";
  mac.texts["hw.machine"] = "x86_64";
  mac.texts["hw.model"] = "Mac14,2";
  mac.gpus[0].class_name = "AGXAcceleratorG14G";
  mac.gpus[0].model = "Apple M2";
  mac.gpus[0].cores = 10;
  mac.metal_device = {"Apple M2", 11453251584};
  return mac;
}

// MacBook Pro 16" of 2019: Core i9, two GPUs, 32 GB.
inline RecordedMac intel_i9() {
  RecordedMac mac;
  mac.numbers = {
      {"kern.hv_vmm_present", 0},
      {"hw.memsize", 32 * kGib},
      {"hw.pagesize", 4096},
      {"hw.ncpu", 16},
      {"hw.logicalcpu", 16},
      {"hw.physicalcpu", 8},
      {"hw.l1dcachesize", 32768},
      {"hw.l2cachesize", 262144},
      {"hw.l3cachesize", 16777216},
      {"hw.optional.sse4_2", 1},
      {"hw.optional.avx1_0", 1},
      {"hw.optional.f16c", 1},
      {"hw.optional.fma", 1},
      {"hw.optional.avx2_0", 1},
      {"hw.optional.avx512f", 0},
      {"kern.memorystatus_vm_pressure_level", 1}};
  mac.texts = {
      {"machdep.cpu.brand_string", "Intel(R) Core(TM) i9-9980HK CPU @ 2.40GHz"},
      {"hw.machine", "x86_64"},
      {"hw.model", "MacBookPro16,1"},
      {"kern.osproductversion", "13.6.1"},
      {"kern.osrelease", "22.6.0"}};
  mac.gpus = {
      {"IntelAccelerator",
       "Intel UHD Graphics 630",
       std::nullopt,
       std::nullopt,
       {{"Device Utilization %", 3}}},
      {"AMDRadeonX6000_AMDNavi14GraphicsAccelerator",
       "AMD Radeon Pro 5500M",
       std::nullopt,
       8176,
       {{"Device Utilization %", 64}, {"inUseVidMemoryBytes", 3221225472}}}};
  mac.metal_device = {"AMD Radeon Pro 5500M", 8573157376};
  return mac;
}

// A virtual machine on Apple Silicon, as hosted build services have them.
inline RecordedMac apple_vm() {
  RecordedMac mac = m1();
  mac.numbers["kern.hv_vmm_present"] = 1;
  mac.numbers["hw.memsize"] = 7 * kGib;
  mac.numbers["hw.ncpu"] = 3;
  mac.numbers["hw.logicalcpu"] = 3;
  mac.numbers["hw.physicalcpu"] = 3;
  mac.numbers["hw.nperflevels"] = 1;
  mac.numbers["hw.perflevel0.physicalcpu"] = 3;
  mac.numbers.erase("hw.perflevel1.physicalcpu");
  mac.texts.erase("hw.perflevel1.name");
  mac.texts["hw.perflevel0.name"] = "Standard";
  mac.texts["machdep.cpu.brand_string"] = "Apple M1 (Virtual)";
  mac.texts["hw.model"] = "VirtualMac2,1";
  mac.gpus = {{"AppleParavirtGPU", "", std::nullopt, std::nullopt, {}}};
  mac.metal_device = {"Apple Paravirtual device", 1610612736};
  return mac;
}

} // namespace temper::machine
