// Memory for things of many megabytes. Touching fresh memory costs a fault
// per page; with pages of 2 MiB instead of 4 KiB that cost goes away, and so
// do most misses of the address cache afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace temper {

struct LargeMemoryFree {
  void operator()(std::uint8_t* memory) const;
};

using LargeMemory = std::unique_ptr<std::uint8_t, LargeMemoryFree>;

// Aligned to at least 16 KiB (Apple's page) and not initialised; null when
// there is none.
LargeMemory take_large_memory(std::size_t bytes);

// Asks the system for large pages; only a wish. `memory` is aligned to them.
void wish_large_pages(void* memory, std::size_t bytes);

// Returns memory that the program has freed, and its allocator kept, to the
// system.
void give_back_free_memory();

} // namespace temper
