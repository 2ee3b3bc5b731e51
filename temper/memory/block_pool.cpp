#include "temper/memory/block_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "temper/base/large_memory.h"

namespace temper::memory {
namespace {

constexpr std::size_t kLine = 64; // of the cache, and LibTorch's alignment
// From here on blocks begin at a large page, and ask for such pages.
constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kLargePage;
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
  std::size_t index; // of its size
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

void* BlockPool::take(std::size_t bytes) {
  static_assert(sizeof(Block) == kLine);
  if (bytes > kTooMany) return nullptr;
  const SizeClass size = size_class(bytes);
  Block* block = waiting_for(size.index);
  if (block != nullptr) {
    unlink(block);
    ++recycled_;
  } else {
    void* fresh = nullptr;
    const std::size_t held = size.bytes + sizeof(Block);
    const std::size_t alignment = held >= kLarge ? kLargePage : kLine;
    if (::posix_memalign(&fresh, alignment, held) != 0) return nullptr;
    if (held >= kLarge) wish_large_pages(fresh, held);
    block = new (fresh) Block{};
    block->index = size.index;
    block->held = held;
  }
  block->bytes = bytes;
  live_ += block->held;
  return block->memory();
}

void BlockPool::put(void* memory) {
  Block* block = static_cast<Block*>(memory) - 1;
  live_ -= block->held;
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
