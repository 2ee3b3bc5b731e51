#include <malloc.h>
#include <sys/mman.h>

#include "temper/base/large_memory.h"

namespace temper {

void wish_large_pages(void* memory, std::size_t bytes) {
  ::madvise(memory, bytes, MADV_HUGEPAGE);
}

void forget_pages(void* memory, std::size_t bytes) {
  ::madvise(memory, bytes, MADV_DONTNEED);
}

void give_back_free_memory() {
  ::malloc_trim(0);
}

} // namespace temper
