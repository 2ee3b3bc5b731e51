// The memory of a CUDA card as LibTorch's allocator has it: what tensors take,
// what the driver handed out, and a limit that makes too much an exception.
// Only a LibTorch built for CUDA knows; others answer 0. Needs no torch here.
#pragma once

#include <cstdint>

namespace temper::libtorch {

// Bytes on a card; 0: not known.
struct CudaMemory {
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0; // since reset_cuda_peak()
  std::uint64_t driver_bytes = 0; // also what waits to be used again
  std::uint64_t blocks = 0;
};

CudaMemory cuda_memory(int card);
void reset_cuda_peak(int card);

// Limits a card's memory; false where there is no such card.
bool limit_cuda(int card, std::uint64_t bytes);

// Gives the driver back what waits to be used again, on every card.
void release_cuda(int card);

} // namespace temper::libtorch
