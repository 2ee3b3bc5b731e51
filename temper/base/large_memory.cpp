#include "temper/base/large_memory.h"

#include <new>

namespace temper {
namespace {

// Also of what is too small for large pages, so that all of it can be freed
// alike.
constexpr std::size_t kLargePage = std::size_t{2} << 20;

} // namespace

void LargeMemoryFree::operator()(std::uint8_t* memory) const {
  ::operator delete (memory, std::align_val_t{kLargePage});
}

LargeMemory take_large_memory(std::size_t bytes) {
  void* memory =
      ::operator new (bytes, std::align_val_t{kLargePage}, std::nothrow);
  if (memory != nullptr && bytes >= kLargePage) wish_large_pages(memory, bytes);
  return LargeMemory(static_cast<std::uint8_t*>(memory));
}

} // namespace temper
