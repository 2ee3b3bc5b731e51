// A simulated MPS device for Linux: host memory behind LibTorch's MPS key, so
// that temper's `mps` branches run on a machine without one. It can be told to
// fail the way real ones do. Linked into one test program; never on a Mac.
#pragma once

#include <cstdint>

namespace temper::sim_mps {

enum class Fault {
  none,
  // Reports MPS and fails at the first allocation, as hosted VMs do.
  no_memory,
  // Computes, and returns wrong numbers without an error.
  wrong_numbers,
};

void set_fault(Fault fault);

// Operators run on the device since the program began.
std::int64_t operators_run();

// Bytes allocated on the device and not freed.
std::int64_t bytes_in_use();

} // namespace temper::sim_mps
