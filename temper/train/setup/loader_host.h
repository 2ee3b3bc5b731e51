// The share of the machine for the loaders of a run: cores, memory, and the
// file in which their tunings are remembered. No torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "temper/base/environment.h"
#include "temper/config/config.h"
#include "temper/data/loader/loader.h"
#include "temper/machine/machine.h"

namespace temper::train {

struct LoaderHost {
  int cores = 1;
  std::uint64_t memory_bytes = data::LoaderOptions().memory_bytes;
  // Where settled tunings are remembered, and for which machine; empty:
  // nowhere.
  std::filesystem::path tuning_file = {};
  std::string machine_key = {};
};

// By what the machine room found: cores that affinity and a container's quota
// leave, and of the memory that its limit leaves 5 %, at most 512 MiB, unless
// loader.memory says otherwise. Tunings are remembered where plans are.
LoaderHost loader_host(
    const config::Config& config,
    const machine::Machine& machine,
    const Environment& environment);

} // namespace temper::train
