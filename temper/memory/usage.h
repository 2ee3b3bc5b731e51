// The bytes that tensors take on a device now, by whoever hands out its memory,
// and how to make it give back what no tensor uses. Used by the loop after
// every step, by whoever shrinks it, and by the forecast's measured steps.
#pragma once

#include <cstdint>
#include <string>

namespace temper::memory {

// Bytes of tensors on a device; 0: not known.
struct TensorUsage {
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0; // since reset_tensor_peak()
  std::uint64_t driver_bytes = 0; // that the device's driver handed out
  std::uint64_t tensors = 0; // or blocks of memory for them
};

TensorUsage tensor_usage(const std::string& device);
void reset_tensor_peak(const std::string& device);

// Limits the bytes of tensors: more is an out-of-memory exception, where the
// device's allocator can be told so. The CPU's is ours, MPS and CUDA take a
// fraction of what the device has.
void limit_tensors(const std::string& device, std::uint64_t bytes);

// Gives back what waits to be used again, on the device and in the program's
// own memory. Changes no result, but steps after it take their memory anew,
// page by page: for when memory is short, not for a step that goes well.
void release_cached(const std::string& device);

} // namespace temper::memory
