#include <sys/mman.h>

#include "temper/base/large_memory.h"

namespace temper {

// macOS has pages of 16 KiB and offers no larger ones on Apple Silicon.
void wish_large_pages(void*, std::size_t) {}

// MADV_DONTNEED keeps them there. What is freed counts as free at once, which
// MADV_FREE alone does not say.
void forget_pages(void* memory, std::size_t bytes) {
  ::madvise(memory, bytes, MADV_FREE_REUSABLE);
}

// The system's allocator does so by itself once the system is short of memory.
void give_back_free_memory() {}

} // namespace temper
