#include "temper/train/setup/loader_host.h"

#include <algorithm>

#include "temper/data/fetch/locate.h"
#include "temper/data/tune/tuning_memory.h"
#include "temper/plan/cache.h"

namespace temper::train {

LoaderHost loader_host(
    const config::Config& config,
    const machine::Machine& machine,
    const Environment& environment) {
  constexpr std::uint64_t kParts = 20; // 5 %
  LoaderHost host;
  host.cores = std::max(1, static_cast<int>(machine.cpu.usable));
  if (const auto usable = machine.memory.usable_bytes(); usable > 0)
    host.memory_bytes = std::min(host.memory_bytes, usable / kParts);
  const auto cache = data::cache_directory(environment);
  if (config.plan.cache == "on" && config.device != "sim" && !cache.empty()) {
    host.tuning_file = data::tuning_file(cache);
    host.machine_key = plan::machine_fingerprint(machine);
  }
  return host;
}

} // namespace temper::train
