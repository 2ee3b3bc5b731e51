#include "temper/machine/mac/mac_facts.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "temper/base/text.h"
#include "temper/machine/disk.h"

namespace temper::machine {
namespace {

using Named = std::pair<const char*, const char*>; // sysctl key, our name

constexpr Named kArmFeatureKeys[] = {
    {"hw.optional.arm.FEAT_FP16", "fp16"},
    {"hw.optional.arm.FEAT_BF16", "bf16"},
    {"hw.optional.arm.FEAT_DotProd", "dotprod"},
    {"hw.optional.arm.FEAT_I8MM", "i8mm"},
    {"hw.optional.arm.FEAT_SME", "sme"},
    {"hw.optional.arm.FEAT_SME2", "sme2"},
};

constexpr Named kX86FeatureKeys[] = {
    {"hw.optional.sse4_2", "sse4_2"},
    {"hw.optional.avx1_0", "avx"},
    {"hw.optional.f16c", "f16c"},
    {"hw.optional.fma", "fma"},
    {"hw.optional.avx2_0", "avx2"},
    {"hw.optional.avx512f", "avx512f"},
    {"hw.optional.avx512bw", "avx512bw"},
    {"hw.optional.avx512dq", "avx512dq"},
    {"hw.optional.avx512vl", "avx512vl"},
};

// Best first.
constexpr Named kX86Levels[] = {
    {"hw.optional.avx512f", "AVX-512"},
    {"hw.optional.avx2_0", "AVX2"},
    {"hw.optional.avx1_0", "AVX"},
    {"hw.optional.sse4_2", "SSE4.2"},
};

bool is_set(MacSource& source, const std::string& key) {
  return source.number(key) == 1;
}

// The first of the keys this machine has; 0 when it has none.
std::uint64_t first_of(
    MacSource& source,
    std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto value = source.number(key);
    if (value && *value > 0) return static_cast<std::uint64_t>(*value);
  }
  return 0;
}

std::string chip_arch(MacSource& source, const std::string& process_arch) {
  if (is_set(source, "hw.optional.arm64")) return "arm64";
  if (is_set(source, "sysctl.proc_translated")) return "arm64";
  return process_arch;
}

// Under Rosetta the brand string names a processor that does not exist. The
// GPU is on the same chip and its name is the chip's.
std::string chip_model(MacSource& source) {
  const std::string brand =
      source.text("machdep.cpu.brand_string").value_or("");
  if (!brand.starts_with("VirtualApple")) return brand;
  for (const MacAccelerator& accelerator : source.accelerators()) {
    if (accelerator.model.starts_with("Apple ")) return accelerator.model;
  }
  return "";
}

// Level 0 has the fastest cores. Level 1 is called "Efficiency" on most chips,
// but chips with "Super" cores have "Performance" ones there.
void count_levels(MacSource& source, Cpu& cpu) {
  for (int level = 0;; level++) {
    const std::string prefix = cat("hw.perflevel", level, ".");
    const auto cores = source.number(prefix + "physicalcpu");
    if (!cores) break;
    const auto name = source.text(prefix + "name");
    const bool efficient = name ? *name == "Efficiency" : level > 0;
    (efficient ? cpu.efficiency : cpu.performance) += static_cast<int>(*cores);
  }
  // Intel's Macs have one kind of core; an Apple chip that does not tell its
  // levels (macOS 11) has two kinds that we cannot count.
  const bool told = cpu.performance + cpu.efficiency > 0;
  if (!told && cpu.chip_arch == "x86_64") cpu.performance = cpu.physical;
}

// The instructions that this process may execute, hence by its own
// architecture.
void read_simd(MacSource& source, Cpu& cpu) {
  const auto add = [&](const auto& features) {
    for (const auto& [key, name] : features) {
      if (is_set(source, key)) cpu.features.push_back(name);
    }
  };
  if (cpu.arch == "arm64") {
    cpu.simd = "NEON"; // part of the architecture
    add(kArmFeatureKeys);
  } else if (cpu.arch == "x86_64") {
    for (const auto& [key, level] : kX86Levels) {
      if (cpu.simd.empty() && is_set(source, key)) cpu.simd = level;
    }
    add(kX86FeatureKeys);
  }
}

std::string vm_name(MacSource& source, const std::string& model) {
  if (!is_set(source, "kern.hv_vmm_present")) return "";
  const std::string name = lower(model);
  if (name.starts_with("virtualmac")) return "apple";
  if (name.starts_with("vmware")) return "vmware";
  if (name.starts_with("parallels")) return "parallels";
  return "unknown";
}

// `physical_bytes` is all the memory there is, the GPU's included.
Gpu apple_gpu(
    MacSource& source,
    const MacAccelerator& accelerator,
    std::uint64_t physical_bytes) {
  Gpu gpu;
  gpu.vendor = "apple";
  gpu.model = accelerator.model;
  gpu.cores = static_cast<int>(accelerator.cores.value_or(0));
  if (const auto metal = source.metal()) {
    if (gpu.model.empty()) gpu.model = metal->name;
    gpu.recommended_bytes = metal->recommended_bytes;
  }
  if (!mac_gpu_on_chip(accelerator)) return gpu;
  gpu.memory_bytes = physical_bytes;
  // The owner of the machine may have set another limit; 0 is the default.
  const std::uint64_t wired_mb = first_of(source, {"iogpu.wired_limit_mb"});
  if (wired_mb > 0) {
    const std::uint64_t wired_bytes = wired_mb << 20;
    gpu.recommended_bytes = physical_bytes > 0
        ? std::min(wired_bytes, physical_bytes)
        : wired_bytes;
  }
  return gpu;
}

Gpu other_gpu(const MacAccelerator& accelerator) {
  Gpu gpu;
  gpu.vendor = mac_gpu_vendor(accelerator);
  gpu.model = accelerator.model;
  const std::int64_t vram_mb = accelerator.vram_mb.value_or(0);
  if (vram_mb > 0) gpu.memory_bytes = static_cast<std::uint64_t>(vram_mb) << 20;
  return gpu;
}

} // namespace

Platform mac_platform(MacSource& source) {
  Platform platform;
  platform.os = "macos";
  platform.version = source.text("kern.osproductversion").value_or("");
  platform.kernel = source.text("kern.osrelease").value_or("");
  platform.model = source.text("hw.model").value_or("");
  platform.vm = vm_name(source, platform.model);
  // Intel's Macs have no such key at all.
  platform.rosetta = is_set(source, "sysctl.proc_translated");
  return platform;
}

Cpu mac_cpu(MacSource& source) {
  Cpu cpu;
  cpu.model = chip_model(source);
  cpu.arch = source.text("hw.machine").value_or("");
  cpu.chip_arch = chip_arch(source, cpu.arch);
  cpu.logical =
      static_cast<int>(first_of(source, {"hw.logicalcpu", "hw.ncpu"}));
  cpu.physical = static_cast<int>(first_of(source, {"hw.physicalcpu"}));
  count_levels(source, cpu);
  cpu.usable = cpu.logical; // macOS has neither affinity nor quotas
  read_simd(source, cpu);
  // On Apple Silicon the keys without a level speak of efficiency cores.
  cpu.l1d_bytes =
      first_of(source, {"hw.perflevel0.l1dcachesize", "hw.l1dcachesize"});
  cpu.l2_bytes =
      first_of(source, {"hw.perflevel0.l2cachesize", "hw.l2cachesize"});
  cpu.l3_bytes =
      first_of(source, {"hw.perflevel0.l3cachesize", "hw.l3cachesize"});
  return cpu;
}

Memory mac_memory(
    MacSource& source,
    std::optional<std::uint64_t> address_space_limit) {
  Memory memory;
  memory.physical_bytes = first_of(source, {"hw.memsize"});
  memory.page_bytes = first_of(source, {"hw.pagesize"});
  if (const auto swap = source.swap()) memory.swap_bytes = swap->total_bytes;
  const bool tighter = address_space_limit &&
      (memory.physical_bytes == 0 ||
       *address_space_limit < memory.physical_bytes);
  if (tighter) {
    memory.limit_bytes = address_space_limit;
    memory.limit_source = "RLIMIT_AS";
  }
  return memory;
}

std::vector<Gpu> mac_gpus(MacSource& source) {
  const std::uint64_t physical_bytes = first_of(source, {"hw.memsize"});
  std::vector<Gpu> gpus;
  for (const MacAccelerator& accelerator : source.accelerators()) {
    gpus.push_back(
        mac_gpu_vendor(accelerator) == "apple"
            ? apple_gpu(source, accelerator, physical_bytes)
            : other_gpu(accelerator));
  }
  // A virtual machine's GPU may be known to Metal alone.
  if (gpus.empty() && is_set(source, "hw.optional.arm64")) {
    if (source.metal()) gpus.push_back(apple_gpu(source, {}, physical_bytes));
  }
  return gpus;
}

Disk mac_disk(MacSource& source, const std::filesystem::path& path) {
  Disk disk;
  disk.path = shown_path(path);
  std::filesystem::path place = full_path(path);
  auto volume = source.volume(place);
  while (!volume && place != place.root_path()) {
    place = place.parent_path();
    volume = source.volume(place);
  }
  if (!volume) return disk;
  disk.total_bytes = volume->total_bytes;
  disk.free_bytes = volume->free_bytes;
  disk.filesystem = volume->filesystem;
  return disk;
}

std::string mac_gpu_vendor(const MacAccelerator& accelerator) {
  const std::string& name = accelerator.class_name;
  if (mac_gpu_on_chip(accelerator) || name.starts_with("AppleParavirt")) {
    return "apple";
  }
  if (contains(name, "AMD") || name.starts_with("ATI")) return "amd";
  if (contains(name, "Intel")) return "intel";
  if (name.starts_with("nv") || name.starts_with("NV")) return "nvidia";
  return "";
}

bool mac_gpu_on_chip(const MacAccelerator& accelerator) {
  return accelerator.class_name.starts_with("AGX");
}

} // namespace temper::machine
