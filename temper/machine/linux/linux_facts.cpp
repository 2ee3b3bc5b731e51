#include "temper/machine/linux/linux_facts.h"

#include <algorithm>

#include "temper/base/file/file.h"
#include "temper/machine/linux/linux_cgroup.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {

namespace fs = std::filesystem;

Memory linux_memory(
    const fs::path& root,
    std::uint64_t page_bytes,
    std::optional<std::uint64_t> address_space_limit) {
  Memory memory;
  memory.page_bytes = page_bytes;
  const std::string meminfo =
      read_small_file(root / "proc/meminfo").value_or("");
  memory.physical_bytes = kib_field(meminfo, "MemTotal").value_or(0);
  memory.swap_bytes = kib_field(meminfo, "SwapTotal").value_or(0);

  const auto consider = [&](std::uint64_t bytes, const std::string& source) {
    if (memory.physical_bytes > 0 && bytes >= memory.physical_bytes) return;
    if (memory.limit_bytes && *memory.limit_bytes <= bytes) return;
    memory.limit_bytes = bytes;
    memory.limit_source = source;
  };
  if (const auto limit = memory_limit(linux_cgroups(root, "memory")))
    consider(limit->bytes, limit->source);
  if (address_space_limit) consider(*address_space_limit, "RLIMIT_AS");
  return memory;
}

std::vector<Gpu> linux_nvidia_gpus(const fs::path& root) {
  std::vector<fs::path> directories;
  std::error_code error;
  fs::directory_iterator at(root / "proc/driver/nvidia/gpus", error);
  for (; !error && at != fs::directory_iterator(); at.increment(error))
    directories.push_back(at->path());
  // By bus address, the order NVML counts them in.
  std::sort(directories.begin(), directories.end());

  std::vector<Gpu> gpus;
  for (const auto& directory : directories) {
    const auto text = read_small_file(directory / "information");
    if (!text) continue;
    Gpu gpu;
    gpu.vendor = "nvidia";
    gpu.model = clean(field(*text, "Model").value_or(""));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

} // namespace temper::machine
