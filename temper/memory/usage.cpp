#include "temper/memory/usage.h"

#include "temper/base/text.h"
#include "temper/libtorch/mps_memory.h"
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
  } else if (starts_with(device, "mps")) {
    const auto now = libtorch::mps_memory();
    usage.live_bytes = now.live_bytes;
    usage.driver_bytes = now.driver_bytes;
  }
  return usage;
}

void limit_tensors(const std::string& device, std::uint64_t bytes) {
  if (device == "cpu") limit_cpu(bytes);
  if (starts_with(device, "mps") && bytes > 0) libtorch::limit_mps(bytes);
}

void reset_tensor_peak(const std::string& device) {
  if (device == "cpu") reset_cpu_peak();
  if (device == "sim") libtorch::sim::reset_peak();
}

} // namespace temper::memory
