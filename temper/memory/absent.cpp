// The room's answers in a build without LibTorch: there are no tensors.
#include "temper/memory/cpu_allocator.h"

namespace temper::memory {

void install_cpu_allocator() {}

void limit_cpu(std::uint64_t) {}

CpuUsage cpu_usage() {
  return {};
}

void reset_cpu_peak() {}

void trace_cpu(std::vector<CpuEvent>*) {}

void trim_cpu_pool() {}

void recycle_cpu_blocks(bool) {}

void fail_cpu_allocation(std::int64_t, bool) {}

} // namespace temper::memory
