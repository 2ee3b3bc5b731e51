#include "temper/machine/probe.h"

#include "temper/machine/limits.h"
#include "temper/machine/mac/mac_facts.h"
#include "temper/machine/mac/mac_source.h"

namespace temper::machine {

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
