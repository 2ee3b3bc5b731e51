#include "temper/memory/usage.h"

#include "temper/libtorch/sim.h"
#include "temper/memory/cpu_allocator.h"

namespace temper::memory {

TensorUsage tensor_usage(const std::string& device) {
  TensorUsage usage;
  if (device == "cpu") {
    const CpuUsage now = cpu_usage();
    usage.live_bytes = now.live_bytes;
    usage.peak_bytes = now.peak_bytes;
    usage.tensors = static_cast<std::uint64_t>(now.blocks);
  } else if (device == "sim") {
    const auto now = libtorch::sim::counts();
    usage.live_bytes = now.live_bytes;
    usage.peak_bytes = now.peak_bytes;
  }
  return usage;
}

void reset_tensor_peak(const std::string& device) {
  if (device == "cpu") reset_cpu_peak();
  if (device == "sim") libtorch::sim::reset_peak();
}

} // namespace temper::memory
