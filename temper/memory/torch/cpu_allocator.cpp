#include "temper/memory/cpu_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "temper/base/text.h"
#include "temper/memory/block_pool.h"

namespace temper::memory {
namespace {

struct Books {
  std::mutex mutex;
  BlockPool pool;
  CpuUsage usage;
  std::uint64_t highest_held = 0; // by live blocks
  bool recycles = true;
  bool installed = false;
  std::int64_t until_failure = 0; // allocations; 0: none will fail
  bool fails_forever = false;
  std::vector<CpuEvent>* trace = nullptr;
  std::unordered_map<void*, std::size_t> traced; // live, by who took them
};

// Never destroyed: tensors may outlive everything.
Books& books() {
  static Books& all = *new Books;
  return all;
}

class Locked {
 public:
  Books* operator->() const {
    return &books();
  }

 private:
  std::lock_guard<std::mutex> lock_{books().mutex};
};

[[noreturn]] void refuse(const Locked& now, std::size_t bytes) {
  ++now->usage.refused;
  const CpuUsage& usage = now->usage;
  C10_THROW_ERROR(
      OutOfMemoryError,
      cat("[memory] out of memory: ",
          bytes_text(bytes),
          " more were asked for, and tensors hold ",
          bytes_text(usage.live_bytes),
          usage.limit_bytes > 0
              ? cat(" of a budget of ", bytes_text(usage.limit_bytes))
              : "",
          "."));
}

bool fails_now(const Locked& now) {
  if (now->until_failure == 0) return false;
  if (now->until_failure > 1) {
    --now->until_failure;
    return false;
  }
  if (!now->fails_forever) now->until_failure = 0;
  return true;
}

bool over_budget(const CpuUsage& usage, std::size_t bytes) {
  return usage.limit_bytes > 0 &&
      (usage.live_bytes > usage.limit_bytes ||
       bytes > usage.limit_bytes - usage.live_bytes);
}

// How many bytes may wait. Not so many that all together exceed what tensors
// once held by more than a quarter, which is for steps whose blocks do not
// quite fit each other; nor the budget.
std::uint64_t most_pooled(const Locked& now) {
  if (!now->recycles) return 0;
  const std::uint64_t live = now->pool.live_bytes();
  const std::uint64_t limit = now->usage.limit_bytes;
  const std::uint64_t all = now->highest_held + now->highest_held / 4;
  const std::uint64_t most = limit > 0 ? std::min(all, limit) : all;
  return most > live ? most - live : 0;
}

void* take(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const Locked now;
  CpuUsage& usage = now->usage;
  if (fails_now(now) || over_budget(usage, bytes)) refuse(now, bytes);
  void* memory = now->pool.take(bytes);
  if (memory == nullptr) { // what waits may be what is missing
    now->pool.trim(0);
    memory = now->pool.take(bytes);
  }
  if (memory == nullptr) refuse(now, bytes);
  usage.live_bytes += bytes;
  usage.peak_bytes = std::max(usage.peak_bytes, usage.live_bytes);
  ++usage.blocks;
  ++usage.allocations;
  now->highest_held = std::max(now->highest_held, now->pool.live_bytes());
  now->pool.trim(most_pooled(now));
  if (now->trace != nullptr) {
    now->traced[memory] = now->trace->size();
    now->trace->push_back({static_cast<std::int64_t>(bytes)});
  }
  return memory;
}

void give(void* memory) {
  if (memory == nullptr) return;
  const Locked now;
  if (now->trace != nullptr)
    if (const auto taken = now->traced.find(memory);
        taken != now->traced.end()) {
      now->trace->push_back({0, taken->second});
      now->traced.erase(taken);
    }
  now->usage.live_bytes -= BlockPool::bytes_of(memory);
  --now->usage.blocks;
  now->pool.put(memory);
  now->pool.trim(most_pooled(now));
}

// The two ways LibTorch has declared this interface: allocate() lost its const
// and copy_data() was added in 2.3. Neither is marked override, so that one
// class serves both.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
struct CpuAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) const {
    void* memory = take(bytes);
    return {memory, memory, &give, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DataPtr allocate(std::size_t bytes) {
    return static_cast<const CpuAllocator*>(this)->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const {
    return &give;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};
#pragma GCC diagnostic pop

} // namespace

void install_cpu_allocator() {
  const Locked now;
  if (now->installed) return;
  now->installed = true;
  static CpuAllocator& allocator = *new CpuAllocator;
  c10::SetCPUAllocator(&allocator);
}

void limit_cpu(std::uint64_t bytes) {
  install_cpu_allocator();
  const Locked now;
  now->usage.limit_bytes = bytes;
  now->pool.trim(most_pooled(now));
}

CpuUsage cpu_usage() {
  const Locked now;
  CpuUsage usage = now->usage;
  usage.pooled_bytes = now->pool.pooled_bytes();
  usage.held_bytes = usage.pooled_bytes + now->pool.live_bytes();
  usage.recycled = now->pool.recycled();
  return usage;
}

void reset_cpu_peak() {
  const Locked now;
  now->usage.peak_bytes = now->usage.live_bytes;
}

void trace_cpu(std::vector<CpuEvent>* events) {
  const Locked now;
  now->trace = events;
  now->traced.clear();
}

void trim_cpu_pool() {
  const Locked now;
  now->pool.trim(0);
  now->highest_held = now->pool.live_bytes();
}

void recycle_cpu_blocks(bool on) {
  const Locked now;
  now->recycles = on;
  now->pool.trim(most_pooled(now));
}

void fail_cpu_allocation(std::int64_t nth, bool forever) {
  const Locked now;
  now->until_failure = nth;
  now->fails_forever = forever;
}

} // namespace temper::memory
