#include "temper/base/large_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
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

std::size_t round_to_large_pages(std::size_t bytes) {
  return (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

std::size_t installed_memory() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
      static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// The system hands out ordinary pages: a large one more than asked for, and the
// ends go back.
void* reserve_addresses(std::size_t bytes) {
  const std::size_t most = bytes + kLargePage;
  void* mapped = ::mmap(
      nullptr,
      most,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS,
      -1,
      0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* from = static_cast<char*>(mapped);
  const auto place = reinterpret_cast<std::uintptr_t>(from);
  const std::size_t skip = round_to_large_pages(place) - place;
  if (skip > 0) ::munmap(from, skip);
  if (skip < kLargePage) ::munmap(from + skip + bytes, kLargePage - skip);
  return from + skip;
}

void release_addresses(void* memory, std::size_t bytes) {
  ::munmap(memory, bytes);
}

void give_back_pages(void* memory, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t first = (begin + page - 1) / page * page;
  const std::size_t last = (begin + bytes) / page * page;
  if (first < last)
    forget_pages(static_cast<char*>(memory) + (first - begin), last - first);
}

} // namespace temper
