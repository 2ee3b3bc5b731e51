// LibTorch's CPU memory, pooled and accounted. Blocks are recycled instead of
// given back, because the system hands out fresh ones page by page, with a
// fault each; what tensors hold is known to the byte; and a budget is kept by
// an exception, before the kernel ends the process. Used by the run, which
// installs it, by usage.h and by the trial of convolutions. Any thread may
// call.
#pragma once

#include <cstdint>
#include <vector>

namespace temper::memory {

// From now on LibTorch takes CPU memory here. Tensors made before keep theirs
// and give it back where it came from. A second call changes nothing. Without
// LibTorch the call has no effect, and the usage stays zero.
void install_cpu_allocator();

// Allows at most so many bytes of tensors; 0: no limit. Installs the allocator.
// Tensors that are alive already count and are left alone.
void limit_cpu(std::uint64_t bytes);

struct CpuUsage {
  std::uint64_t live_bytes = 0; // of tensors, as asked for
  std::uint64_t peak_bytes = 0; // of these, since reset_cpu_peak()
  std::uint64_t limit_bytes = 0; // 0: none
  std::uint64_t held_bytes = 0; // of the system's memory: live, rounding, pool
  std::uint64_t pooled_bytes = 0; // of these, waiting to be used again
  std::int64_t blocks = 0; // live
  std::int64_t allocations = 0;
  std::int64_t recycled = 0; // allocations that came from the pool
  std::int64_t refused = 0;
};
CpuUsage cpu_usage();
void reset_cpu_peak();

// A block that was taken, or given back.
struct CpuEvent {
  std::int64_t bytes = 0; // taken; 0: given back
  std::size_t taken_at = 0; // of one given back: the event that took it
};
// Notes from now on each block that is taken or given back, except blocks from
// before; null: notes none. One trace at a time.
void trace_cpu(std::vector<CpuEvent>* events);

// Gives the system back what waits in the pool, and forgets how much there once
// was: the pool never grows beyond that by itself.
void trim_cpu_pool();
// Whether freed blocks are kept at all; on, but for measuring what that saves.
void recycle_cpu_blocks(bool on);

// For tests: the n-th allocation from now on fails as it does at the budget;
// 0: none. `forever`: and all that follow.
void fail_cpu_allocation(std::int64_t nth, bool forever = false);

} // namespace temper::memory
