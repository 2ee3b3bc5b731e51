// The memory of LibTorch's MPS device: what tensors have, what the driver
// handed out, and a limit that makes too much an exception. From LibTorch 2.0
// on; before it nothing is known and nothing can be done. Needs no torch here.
#pragma once

#include <cstdint>

namespace temper::libtorch {

// Bytes on the device; 0: not known.
struct MpsMemory {
  std::uint64_t live_bytes = 0;
  std::uint64_t driver_bytes = 0; // also what waits to be used again
  std::uint64_t recommended_bytes = 0; // by Metal
};

MpsMemory mps_memory();

// Limits the device's memory; false where it cannot be set, or the device does
// not say what it has.
bool limit_mps(std::uint64_t bytes);

// Gives the driver back what waits to be used again.
void release_mps();

} // namespace temper::libtorch
