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

// Addresses, at the beginning of a large page, whose memory comes when it is
// written to; null when the machine has not as much. And back.
void* reserve_addresses(std::size_t bytes);
void release_addresses(void* memory, std::size_t bytes);
std::size_t round_to_large_pages(std::size_t bytes);
std::size_t installed_memory(); // bytes

// Gives back the pages that lie wholly inside; they are there again, in zeros,
// when somebody writes to them.
void give_back_pages(void* memory, std::size_t bytes);

// The same for whole pages, as the system calls it.
void forget_pages(void* memory, std::size_t bytes);

// Returns memory that the program has freed, and its allocator kept, to the
// system.
void give_back_free_memory();

} // namespace temper
