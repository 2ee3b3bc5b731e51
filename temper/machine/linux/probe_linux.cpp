#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "temper/machine/disk.h"
#include "temper/machine/limits.h"
#include "temper/machine/linux/linux_facts.h"
#include "temper/machine/linux/linux_mounts.h"
#include "temper/machine/linux/nvml.h"
#include "temper/machine/probe.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

// The kernel refuses a set smaller than its own, which may be above the 1024
// of cpu_set_t.
int affinity() {
  constexpr int kMostCpus = 8192;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  if (!set) return 0;
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  const bool read = sched_getaffinity(0, bytes, set) == 0;
  const int count = read ? CPU_COUNT_S(bytes, set) : 0;
  CPU_FREE(set);
  return count;
}

std::string kernel_arch() {
  utsname names{};
  return uname(&names) == 0 ? names.machine : "";
}

// The management library knows the memory too, and it works where the driver
// has no /proc entries (WSL).
std::vector<Gpu> nvidia_gpus() {
  const auto nvml = Nvml::open();
  if (!nvml) return linux_nvidia_gpus("/");
  std::vector<Gpu> gpus;
  for (const GpuGauge& gauge : nvml->read()) {
    Gpu gpu;
    gpu.vendor = "nvidia";
    gpu.model = gauge.name;
    gpu.memory_bytes = gauge.total_bytes.value_or(0);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Disk disk(const fs::path& run_directory) {
  Disk disk = disk_space(run_directory);
  std::error_code error;
  const fs::path place = fs::canonical(nearest_existing(run_directory), error);
  if (!error) disk.filesystem = filesystem_type(linux_mounts(), place);
  return disk;
}

} // namespace

Machine probe(const fs::path& run_directory) {
  const fs::path root = "/";
  const long page_bytes = sysconf(_SC_PAGESIZE);
  Machine machine;
  machine.platform = linux_platform(root);
  machine.cpu = linux_cpu(root, kernel_arch(), affinity());
  machine.memory = linux_memory(
      root,
      static_cast<std::uint64_t>(std::max(page_bytes, 0L)),
      address_space_limit());
  machine.open_files = open_files();
  machine.gpus = nvidia_gpus();
  machine.disk = disk(run_directory);
  machine.libtorch = libtorch::facts();
  return machine;
}

} // namespace temper::machine
