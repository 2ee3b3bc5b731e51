// The answers about CUDA cards of a LibTorch that was not built for them.
#include "temper/libtorch/cuda_memory.h"

namespace temper::libtorch {

CudaMemory cuda_memory(int) {
  return {};
}

void reset_cuda_peak(int) {}

bool limit_cuda(int, std::uint64_t) {
  return false;
}

void release_cuda(int) {}

} // namespace temper::libtorch
