// Will it fit? Steps of the real model on the simulated device, with ever fewer
// samples at once, until one passes: `--device sim --dry-run`. The bytes are
// exact, for a device one does not have. No torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/train/engine/engine.h"

namespace temper::train {

struct SimFit {
  struct Size {
    std::int64_t samples = 0; // at once
    std::uint64_t peak_bytes = 0; // exact where it fits
    bool fits = false;
  };
  std::int64_t batch = 0; // samples of one update
  std::uint64_t memory_bytes = 0; // 0: no limit
  std::vector<Size> sizes; // as tried, the largest first; the last may fit

  // The largest size that fits; null when none does.
  const Size* best() const {
    return sizes.empty() || !sizes.back().fits ? nullptr : &sizes.back();
  }
};

// The sizes are those a run would go through: the batch, a half, a quarter.
SimFit fit_on_sim(
    Engine& engine,
    const data::HostBatch& batch,
    std::uint64_t memory_bytes);

// A table and a sentence.
std::string to_text(const SimFit& fit);

} // namespace temper::train
