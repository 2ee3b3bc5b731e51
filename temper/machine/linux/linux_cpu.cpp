#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/machine/linux/linux_cgroup.h"
#include "temper/machine/linux/linux_facts.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

// Those that decide which kernels run, by the names Linux gives them.
constexpr std::array kX86Features{
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx_vnni",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_tile",
    "amx_int8",
    "amx_bf16",
    "amx_fp16"};
constexpr std::array kArmFeatures{
    "neon",
    "asimd",
    "asimdhp",
    "asimddp",
    "asimdfhm",
    "bf16",
    "i8mm",
    "sve",
    "sve2",
    "svebf16",
    "svei8mm",
    "sme"};

using Flags = std::set<std::string_view>;

std::string x86_simd(const Flags& flags) {
  const auto has = [&](const char* flag) { return flags.count(flag) > 0; };
  // Xeon Phi has avx512f alone, which no kernel of LibTorch's is built for.
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    return "AVX-512";
  if (has("avx2")) return "AVX2";
  if (has("avx")) return "AVX";
  if (has("sse4_2")) return "SSE4.2";
  return has("sse2") ? "SSE2" : "";
}

std::string arm_simd(const Flags& flags) {
  if (flags.count("sve2")) return "SVE2";
  if (flags.count("sve")) return "SVE";
  return flags.count("asimd") || flags.count("neon") ? "NEON" : "";
}

template <class Names>
std::vector<std::string> among(const Names& names, const Flags& flags) {
  std::vector<std::string> found;
  for (const char* name : names)
    if (flags.count(name)) found.emplace_back(name);
  return found;
}

void read_flags(std::string_view cpuinfo, Cpu& cpu) {
  const auto x86 = field(cpuinfo, "flags");
  const auto arm = field(cpuinfo, "Features");
  const auto list = words(x86 ? *x86 : arm.value_or(""));
  const Flags flags(list.begin(), list.end());
  cpu.simd = x86 ? x86_simd(flags) : arm_simd(flags);
  cpu.features = x86 ? among(kX86Features, flags) : among(kArmFeatures, flags);
}

std::vector<int> online_cpus(const fs::path& cpus, std::string_view cpuinfo) {
  auto online = parse_cpu_list(read_small_file(cpus / "online").value_or(""));
  if (!online.empty()) return online;
  while (!cpuinfo.empty()) {
    const auto number = field(next_line(cpuinfo), "processor");
    if (!number) continue;
    const auto parsed = parse_cpu_list(*number);
    online.insert(online.end(), parsed.begin(), parsed.end());
  }
  return online;
}

// One entry per physical core: its first logical CPU. Empty when not known.
std::set<int> first_of_cores(
    const fs::path& cpus,
    const std::vector<int>& all) {
  std::set<int> firsts;
  for (const int cpu : all) {
    const fs::path topology = cpus / cat("cpu", cpu) / "topology";
    // The second is its name before Linux 5.2.
    auto list = read_small_file(topology / "core_cpus_list");
    if (!list) list = read_small_file(topology / "thread_siblings_list");
    const auto siblings = parse_cpu_list(list.value_or(""));
    if (siblings.empty()) return {};
    firsts.insert(siblings.front());
  }
  return firsts;
}

// Without /sys: distinct pairs of package and core in /proc/cpuinfo.
int cores_in_cpuinfo(std::string_view cpuinfo) {
  std::set<std::pair<std::string_view, std::string_view>> cores;
  std::string_view package;
  while (!cpuinfo.empty()) {
    const auto line = next_line(cpuinfo);
    if (const auto id = field(line, "physical id")) package = *id;
    if (const auto id = field(line, "core id")) cores.insert({package, *id});
  }
  return static_cast<int>(cores.size());
}

// ARM tells cores apart by capacity, the best one's being 1024. The middle
// cores of phones and boards reach about three quarters, the small ones less
// than two thirds.
std::set<int> small_by_capacity(
    const fs::path& cpus,
    const std::vector<int>& all) {
  std::map<int, std::uint64_t> capacities;
  std::uint64_t best = 0;
  for (const int cpu : all) {
    const auto capacity = read_number(cpus / cat("cpu", cpu) / "cpu_capacity");
    if (!capacity || *capacity > 1024) return {};
    capacities[cpu] = *capacity;
    best = std::max(best, *capacity);
  }
  std::set<int> small;
  for (const auto& [cpu, capacity] : capacities)
    if (capacity * 3 < best * 2) small.insert(cpu);
  return small;
}

// Intel's kernel driver has one device per kind of core on a hybrid chip. Its
// capacities are no help: they differ among the performance cores too.
std::set<int> efficiency_cpus(
    const fs::path& root,
    const fs::path& cpus,
    const std::vector<int>& all,
    bool arm) {
  if (arm) return small_by_capacity(cpus, all);
  std::set<int> efficient;
  for (const char* kind : {"cpu_atom", "cpu_lowpower"}) {
    const auto list = parse_cpu_list(
        read_small_file(root / "sys/devices" / kind / "cpus").value_or(""));
    efficient.insert(list.begin(), list.end());
  }
  return efficient;
}

// "48K", "32M"
std::uint64_t cache_bytes(const std::string& text) {
  if (text.empty()) return 0;
  const std::string_view digits =
      std::string_view(text).substr(0, text.find_first_not_of("0123456789"));
  const auto number = parse_u64(digits).value_or(0);
  const std::string unit = text.substr(digits.size());
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (number > kMost) return 0;
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  return unit.empty() ? number : 0;
}

void read_caches(const fs::path& cpu_directory, Cpu& cpu) {
  constexpr int kMostCaches = 16;
  for (int i = 0; i < kMostCaches; ++i) {
    const fs::path cache = cpu_directory / "cache" / cat("index", i);
    const auto level = read_number(cache / "level");
    const std::string type = read_line(cache / "type");
    const auto bytes = cache_bytes(read_line(cache / "size"));
    if (!level || type == "Instruction") continue;
    if (*level == 1) cpu.l1d_bytes = bytes;
    if (*level == 2) cpu.l2_bytes = bytes;
    if (*level == 3) cpu.l3_bytes = bytes;
  }
}

std::string cpu_model(std::string_view cpuinfo) {
  const std::string arm = arm_model(cpuinfo);
  if (!arm.empty()) return arm;
  for (const char* key : {"model name", "cpu model", "Processor", "cpu"})
    if (const auto name = field(cpuinfo, key)) return clean(*name);
  return "";
}

} // namespace

Cpu linux_cpu(
    const fs::path& root,
    const std::string& kernel_arch,
    int affinity) {
  const fs::path cpus = root / "sys/devices/system/cpu";
  const std::string cpuinfo =
      read_small_file(root / "proc/cpuinfo").value_or("");
  Cpu cpu;
  cpu.model = cpu_model(cpuinfo);
  cpu.arch = kernel_arch == "aarch64" ? "arm64" : kernel_arch;
  cpu.chip_arch = cpu.arch;
  read_flags(cpuinfo, cpu);

  const auto online = online_cpus(cpus, cpuinfo);
  cpu.logical = static_cast<int>(online.size());
  const auto cores = first_of_cores(cpus, online);
  cpu.physical = cores.empty() ? cores_in_cpuinfo(cpuinfo)
                               : static_cast<int>(cores.size());
  const bool arm = field(cpuinfo, "Features").has_value();
  const auto efficient = efficiency_cpus(root, cpus, online, arm);
  cpu.efficiency =
      static_cast<int>(std::count_if(cores.begin(), cores.end(), [&](int core) {
        return efficient.count(core) > 0;
      }));
  cpu.performance = cpu.physical - cpu.efficiency;

  const auto fast = std::find_if(cores.begin(), cores.end(), [&](int core) {
    return efficient.count(core) == 0;
  });
  read_caches(cpus / cat("cpu", fast == cores.end() ? 0 : *fast), cpu);

  cpu.usable = affinity > 0 ? affinity : cpu.logical;
  if (const auto quota = cpu_quota(linux_cgroups(root, "cpu")))
    cpu.usable = cpu.usable > 0 ? std::min(cpu.usable, *quota) : *quota;
  return cpu;
}

} // namespace temper::machine
