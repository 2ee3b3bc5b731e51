// Built where LibTorch is built for CUDA; elsewhere cuda_absent.cpp is.
#include "temper/libtorch/cuda_memory.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <algorithm>

namespace temper::libtorch {

namespace allocator = c10::cuda::CUDACachingAllocator;

namespace {

using Card = c10::DeviceIndex;

// The sum over large and small blocks comes first in each list.
constexpr std::size_t kAll = 0;

std::uint64_t count(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

// LibTorch 2.6 and newer start any device by its type.
template <class Context>
auto start(Context& context, int)
    -> decltype(context.lazyInitDevice(c10::DeviceType::CUDA)) {
  return context.lazyInitDevice(c10::DeviceType::CUDA);
}
template <class Context>
void start(Context& context, long) {
  context.lazyInitCUDA();
}

// The allocator knows no card before CUDA was started.
bool has_card(int card) {
  int cards = 0;
  if (cudaGetDeviceCount(&cards) != cudaSuccess || card >= cards) return false;
  start(at::globalContext(), 0);
  return true;
}

// The memory of the whole card, whichever is the current one.
std::size_t card_bytes(int card) {
  int current = 0;
  std::size_t unused = 0;
  std::size_t all = 0;
  if (cudaGetDevice(&current) != cudaSuccess ||
      cudaSetDevice(card) != cudaSuccess)
    return 0;
  const bool told = cudaMemGetInfo(&unused, &all) == cudaSuccess;
  static_cast<void>(cudaSetDevice(current));
  return told ? all : 0;
}

} // namespace

CudaMemory cuda_memory(int card) {
  if (!has_card(card)) return {};
  const auto stats = allocator::getDeviceStats(static_cast<Card>(card));
  return {
      count(stats.allocated_bytes[kAll].current),
      count(stats.allocated_bytes[kAll].peak),
      count(stats.reserved_bytes[kAll].current),
      count(stats.allocation[kAll].current)};
}

void reset_cuda_peak(int card) {
  if (has_card(card)) allocator::resetPeakStats(static_cast<Card>(card));
}

bool limit_cuda(int card, std::uint64_t bytes) {
  if (!has_card(card)) return false;
  const std::size_t all = card_bytes(card);
  if (all == 0) return false;
  const double part = static_cast<double>(bytes) / static_cast<double>(all);
  allocator::setMemoryFraction(std::min(part, 1.0), static_cast<Card>(card));
  return true;
}

void release_cuda(int card) {
  if (has_card(card)) allocator::emptyCache();
}

} // namespace temper::libtorch
