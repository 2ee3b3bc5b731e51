#include "tests/cuda_standin/fake_cuda.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

namespace temper::fake_cuda {

System& system() {
  static System the_system;
  return the_system;
}

namespace {

Card& card(int index) {
  // As LibTorch: nothing is known before CUDA was started.
  TORCH_CHECK(system().starts > 0, "the allocator was not started");
  return system().cards.at(static_cast<std::size_t>(index));
}

// LibTorch finds them by this name.
struct CUDAHooks : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void initCUDA() const override {
    ++system().starts;
  }
};

} // namespace
} // namespace temper::fake_cuda

namespace at {
using temper::fake_cuda::CUDAHooks;
REGISTER_CUDA_HOOKS(CUDAHooks);
} // namespace at

using temper::fake_cuda::system;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(system().cards.size());
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = system().current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  system().current = device;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  *all_bytes =
      system().cards.at(static_cast<std::size_t>(system().current)).bytes;
  *free_bytes = *all_bytes / 2;
  return cudaSuccess;
}

namespace c10::cuda::CUDACachingAllocator {

void setMemoryFraction(double fraction, int device) {
  temper::fake_cuda::card(device).fraction = fraction;
}

DeviceStats getDeviceStats(int device) {
  const auto& card = temper::fake_cuda::card(device);
  DeviceStats stats;
  constexpr auto kAll = static_cast<std::size_t>(StatType::AGGREGATE);
  stats.allocated_bytes[kAll].current = card.live;
  stats.allocated_bytes[kAll].peak = card.peak;
  stats.reserved_bytes[kAll].current = card.reserved;
  stats.allocation[kAll].current = 3;
  return stats;
}

void emptyCache() {
  for (auto& card : temper::fake_cuda::system().cards)
    card.reserved = card.live;
}

void resetPeakStats(int device) {
  auto& card = temper::fake_cuda::card(device);
  card.peak = card.live;
}

} // namespace c10::cuda::CUDACachingAllocator
