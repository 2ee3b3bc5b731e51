// Sizes of memory and of batches, for the tests of this room.
#pragma once

#include <cstdint>

#include "temper/memory/governor.h"

namespace temper::memory {

constexpr std::uint64_t kMiB = 1 << 20;

inline GovernorOptions batch_of(int batch) {
  GovernorOptions options;
  options.batch = batch;
  return options;
}

} // namespace temper::memory
