#include "temper/memory/usage.h"

#include "temper/base/large_memory.h"
#include "temper/base/text.h"
#include "temper/libtorch/cuda_memory.h"
#include "temper/libtorch/mps_memory.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/machine/device_kind.h"
#include "temper/memory/cpu_allocator.h"

namespace temper::memory {

namespace {

using machine::DeviceKind;

// The number of the card in "cuda" or "cuda:1".
int card_of(const std::string& device) {
  const auto colon = device.find(':');
  if (colon == std::string::npos) return 0;
  return static_cast<int>(parse_int(device.substr(colon + 1)).value_or(0));
}

} // namespace

TensorUsage tensor_usage(const std::string& device) {
  TensorUsage usage;
  switch (machine::device_kind(device)) {
    case DeviceKind::cpu: {
      const CpuUsage now = cpu_usage();
      usage.live_bytes = now.live_bytes;
      usage.peak_bytes = now.peak_bytes;
      usage.tensors = static_cast<std::uint64_t>(now.blocks);
      break;
    }
    case DeviceKind::sim: {
      const auto now = libtorch::sim::counts();
      usage.live_bytes = now.live_bytes;
      usage.peak_bytes = now.peak_bytes;
      break;
    }
    case DeviceKind::mps: {
      const auto now = libtorch::mps_memory();
      usage.live_bytes = now.live_bytes;
      usage.driver_bytes = now.driver_bytes;
      break;
    }
    case DeviceKind::cuda: {
      const auto now = libtorch::cuda_memory(card_of(device));
      usage = {now.live_bytes, now.peak_bytes, now.driver_bytes, now.blocks};
      break;
    }
    case DeviceKind::other:
      break;
  }
  return usage;
}

void limit_tensors(const std::string& device, std::uint64_t bytes) {
  const DeviceKind kind = machine::device_kind(device);
  if (kind == DeviceKind::cpu) limit_cpu(bytes);
  if (kind == DeviceKind::mps && bytes > 0) libtorch::limit_mps(bytes);
  if (kind == DeviceKind::cuda && bytes > 0)
    libtorch::limit_cuda(card_of(device), bytes);
}

void release_cached(const std::string& device) {
  const DeviceKind kind = machine::device_kind(device);
  if (kind == DeviceKind::mps) libtorch::release_mps();
  if (kind == DeviceKind::cuda) libtorch::release_cuda(card_of(device));
  trim_cpu_pool();
  give_back_free_memory();
}

void reset_tensor_peak(const std::string& device) {
  const DeviceKind kind = machine::device_kind(device);
  if (kind == DeviceKind::cpu) reset_cpu_peak();
  if (kind == DeviceKind::sim) libtorch::sim::reset_peak();
  if (kind == DeviceKind::cuda) libtorch::reset_cuda_peak(card_of(device));
}

} // namespace temper::memory
