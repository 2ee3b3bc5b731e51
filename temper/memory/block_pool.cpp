#include "temper/memory/block_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace temper::memory {
namespace {

constexpr std::size_t kLine = 64; // of the cache, and LibTorch's alignment
// From here on blocks lie in the heap.
constexpr std::size_t kLarge = std::size_t{64} << 10;
// Beyond any memory, and small enough that sums cannot overflow.
constexpr std::size_t kTooMany = SIZE_MAX / 4;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  const std::size_t lines =
      std::max<std::size_t>((bytes + kLine - 1) / kLine, 1);
  if (lines <= 16) return {lines - 1, lines * kLine};
  const auto doublings =
      static_cast<std::size_t>(std::bit_width(lines - 1)) - 4;
  const std::size_t step = kLine << doublings;
  const std::size_t steps = (bytes + step - 1) / step; // 9 to 16
  return {16 + (doublings - 1) * 8 + steps - 9, steps * step};
}

} // namespace

// In front of the memory that is handed out.
struct alignas(kLine) BlockPool::Block {
  std::size_t bytes; // asked for
  std::size_t index; // of its size; of a large one kSizes
  std::size_t held;
  Block* older; // of all that wait
  Block* newer;
  Block* next; // of the same size
  Block* previous;

  void* memory() {
    return this + 1;
  }
};

std::size_t BlockPool::bytes_of(const void* memory) {
  return (static_cast<const Block*>(memory) - 1)->bytes;
}

// A waiting block of this size, or one that is larger by a quarter at most.
BlockPool::Block* BlockPool::waiting_for(std::size_t index) const {
  const std::size_t last = index < 16 ? index : index + 2;
  for (std::size_t i = index; i <= std::min(last, kSizes - 1); ++i)
    if (waiting_[i] != nullptr) return waiting_[i];
  return nullptr;
}

BlockPool::Block* BlockPool::take_small(std::size_t bytes) {
  const SizeClass size = size_class(bytes);
  Block* block = waiting_for(size.index);
  if (block != nullptr) {
    unlink(block);
    ++recycled_;
    return block;
  }
  void* fresh = nullptr;
  const std::size_t held = size.bytes + sizeof(Block);
  if (::posix_memalign(&fresh, kLine, held) != 0) return nullptr;
  block = new (fresh) Block{};
  block->index = size.index;
  block->held = held;
  return block;
}

BlockPool::Block* BlockPool::take_large(std::size_t bytes) {
  const std::size_t held = (bytes + kLine - 1) / kLine * kLine + sizeof(Block);
  const Heap::Taken taken = heap_.take(held);
  if (taken.memory == nullptr) return nullptr;
  if (taken.again) ++recycled_;
  auto* block = new (taken.memory) Block{};
  block->index = kSizes;
  block->held = held;
  return block;
}

void* BlockPool::take(std::size_t bytes) {
  static_assert(sizeof(Block) == kLine);
  if (bytes > kTooMany) return nullptr;
  Block* block = bytes < kLarge ? take_small(bytes) : take_large(bytes);
  if (block == nullptr) return nullptr;
  block->bytes = bytes;
  live_ += block->held;
  return block->memory();
}

void BlockPool::put(void* memory) {
  Block* block = static_cast<Block*>(memory) - 1;
  live_ -= block->held;
  if (block->index == kSizes) {
    heap_.put(block, block->held);
    return;
  }
  pooled_ += block->held;
  Block*& front = waiting_[block->index];
  block->next = front;
  block->previous = nullptr;
  if (front != nullptr) front->previous = block;
  front = block;
  block->older = newest_;
  block->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = block;
  newest_ = block;
}

void BlockPool::trim(std::uint64_t keep_bytes) {
  if (pooled_bytes() <= keep_bytes) return;
  heap_.trim(keep_bytes > pooled_ ? keep_bytes - pooled_ : 0);
  while (pooled_ > keep_bytes) {
    Block* block = oldest_;
    unlink(block);
    std::free(block);
  }
}

void BlockPool::unlink(Block* block) {
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  if (block->next != nullptr) block->next->previous = block->previous;
  (block->previous != nullptr ? block->previous->next
                              : waiting_[block->index]) = block->next;
  pooled_ -= block->held;
}

} // namespace temper::memory
