#include "temper/machine/probe.h"

#include <sys/resource.h>

#include <cstdint>
#include <optional>

#include "temper/libtorch/facts.h"
#include "temper/machine/mac_facts.h"
#include "temper/machine/mac_source.h"

namespace temper::machine {
namespace {

// macOS's "unlimited" is a number like any other; ours is UINT64_MAX.
std::uint64_t plain(rlim_t limit) {
  return limit == RLIM_INFINITY ? UINT64_MAX : limit;
}

OpenFiles open_files() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return {plain(limit.rlim_cur), plain(limit.rlim_max)};
}

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

} // namespace

Machine probe(const std::filesystem::path& run_directory) {
  const auto source = open_mac_source();
  Machine machine;
  machine.platform = mac_platform(*source);
  machine.cpu = mac_cpu(*source);
  machine.memory = mac_memory(*source, address_space_limit());
  machine.open_files = open_files();
  machine.gpus = mac_gpus(*source);
  machine.disk = mac_disk(*source, run_directory);
  machine.libtorch = libtorch::facts();
  return machine;
}

} // namespace temper::machine
