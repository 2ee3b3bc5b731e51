#include "temper/base/large_memory.h"

namespace temper {

// macOS has pages of 16 KiB and offers no larger ones on Apple Silicon.
void wish_large_pages(void*, std::size_t) {}

// The system's allocator does so by itself once the system is short of memory.
void give_back_free_memory() {}

} // namespace temper
