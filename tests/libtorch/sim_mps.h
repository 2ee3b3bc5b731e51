// A simulated MPS device for Linux: host memory behind LibTorch's MPS key, so
// that temper's `mps` branches run on a machine without one. It refuses what
// the real one refuses (float64, tensors of two devices) and can be told to
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

// Times something was copied there, or read from there: each of the latter
// makes the host wait for the device.
std::int64_t copies_to_device();
std::int64_t reads_from_device();

// Bytes allocated on the device and not freed.
std::int64_t bytes_in_use();

} // namespace temper::sim_mps
