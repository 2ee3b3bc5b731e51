// Blocks of memory that are used again. A block has a header of one cache line
// in front. Large ones lie in a heap (heap.h). The sizes of the others are
// rounded up to eight steps a doubling, so that blocks fit again and little is
// wasted; freed ones wait in the order in which they were freed: the one that
// has waited longest goes first when there are too many.
// Not thread-safe: cpu_allocator.cpp locks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "temper/memory/heap.h"

namespace temper::memory {

class BlockPool {
 public:
  // 64-byte aligned, or null when the system has none. What was freed last
  // comes first: it may still be in the processor's cache.
  void* take(std::size_t bytes);
  void put(void* memory);
  // Gives back, of small blocks what has waited longest, until so many bytes
  // wait.
  void trim(std::uint64_t keep_bytes);

  // The size of a block, as take() was asked for it.
  static std::size_t bytes_of(const void* memory);

  std::uint64_t pooled_bytes() const {
    return pooled_ + heap_.touched_bytes();
  }
  std::uint64_t live_bytes() const { // with header and rounding
    return live_;
  }
  std::int64_t recycled() const { // calls of take()
    return recycled_;
  }

 private:
  struct Block;
  Block* take_small(std::size_t bytes);
  Block* take_large(std::size_t bytes);
  Block* waiting_for(std::size_t index) const;
  void unlink(Block* block);

  // Eight a doubling, from 64 bytes to more than there are addresses.
  static constexpr std::size_t kSizes = 16 + 8 * 54;
  std::array<Block*, kSizes> waiting_{}; // the newest of each size
  Block* oldest_ = nullptr;
  Block* newest_ = nullptr;
  Heap heap_;
  std::uint64_t pooled_ = 0; // of small ones
  std::uint64_t live_ = 0;
  std::int64_t recycled_ = 0;
};

} // namespace temper::memory
