#include "temper/kernels/simd/scratch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "temper/base/error.h"
#include "temper/base/large_memory.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::atomic<std::uint64_t>& held() {
  static std::atomic<std::uint64_t> bytes{0};
  return bytes;
}

std::size_t whole_pages(std::size_t bytes) {
  const std::size_t unit = bytes >= kLargePage ? kLargePage : 4096;
  return (bytes + unit - 1) / unit * unit;
}

// The most that one chunk of work has asked of each slot, on any thread.
std::array<std::atomic<std::size_t>, kScratchSlots>& asked_in_chunks() {
  static std::array<std::atomic<std::size_t>, kScratchSlots> bytes{};
  return bytes;
}

void note_in_chunk(std::size_t slot, std::size_t bytes) {
  std::atomic<std::size_t>& most = asked_in_chunks()[slot];
  std::size_t before = most.load(std::memory_order_relaxed);
  while (
      before < bytes &&
      !most.compare_exchange_weak(before, bytes, std::memory_order_relaxed)) {
  }
}

struct Buffer {
  float* memory = nullptr;
  std::size_t bytes = 0;

  void drop() {
    std::free(memory);
    held() -= bytes;
    memory = nullptr;
    bytes = 0;
  }

  void grow(std::size_t wanted) {
    drop();
    const std::size_t unit = wanted >= kLargePage ? kLargePage : 4096;
    const std::size_t rounded = whole_pages(wanted);
    void* fresh = nullptr;
    if (::posix_memalign(&fresh, unit, rounded) != 0) throw std::bad_alloc();
    if (unit == kLargePage) wish_large_pages(fresh, rounded);
    memory = static_cast<float*>(fresh);
    bytes = rounded;
    held() += rounded;
  }
};

struct Buffers {
  std::array<Buffer, kScratchSlots> slots;
  ~Buffers() {
    for (Buffer& slot : slots)
      slot.drop();
  }
};

Buffers& buffers_here() {
  thread_local Buffers buffers;
  return buffers;
}

} // namespace

float* scratch(int slot, std::size_t count) {
  check(slot >= 0 && slot < kScratchSlots, "a kernel's scratch slot exists");
  const auto place = static_cast<std::size_t>(slot);
  Buffer& buffer = buffers_here().slots[place];
  const std::size_t wanted = (count + 16) * sizeof(float); // whole vectors
  if (buffer.bytes < wanted) buffer.grow(wanted);
  if (inside_chunk()) note_in_chunk(place, wanted);
  return buffer.memory;
}

std::uint64_t scratch_bytes() {
  return held();
}

std::uint64_t scratch_bytes_with(int threads) {
  std::uint64_t own = 0;
  std::uint64_t of_helper = 0;
  for (std::size_t slot = 0; slot < kScratchSlots; ++slot) {
    const std::size_t asked = whole_pages(asked_in_chunks()[slot].load());
    own += std::max(buffers_here().slots[slot].bytes, asked);
    of_helper += asked;
  }
  return own + of_helper * static_cast<std::uint64_t>(std::max(threads, 1) - 1);
}

} // namespace temper::kernels
