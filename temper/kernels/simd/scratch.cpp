#include "temper/kernels/simd/scratch.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "temper/base/error.h"
#include "temper/base/large_memory.h"

namespace temper::kernels {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::atomic<std::uint64_t>& held() {
  static std::atomic<std::uint64_t> bytes{0};
  return bytes;
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
    const std::size_t rounded = (wanted + unit - 1) / unit * unit;
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

} // namespace

float* scratch(int slot, std::size_t count) {
  check(slot >= 0 && slot < kScratchSlots, "a kernel's scratch slot exists");
  thread_local Buffers buffers;
  Buffer& buffer = buffers.slots[static_cast<std::size_t>(slot)];
  const std::size_t wanted = (count + 16) * sizeof(float); // whole vectors
  if (buffer.bytes < wanted) buffer.grow(wanted);
  return buffer.memory;
}

std::uint64_t scratch_bytes() {
  return held();
}

} // namespace temper::kernels
