#include "temper/libtorch/out_of_memory.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace temper::libtorch {
namespace {

// As the devices word it, from 1.13 to 2.14.
TEST(OutOfMemory, IsKnownInAllItsWords) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(is_out_of_memory(std::bad_array_new_length()));
  for (const char* words :
       {"MPS backend out of memory (MPS allocated: 8.9 GB, other allocations: "
        "1.2 MB, max allowed: 9.07 GB). Tried to allocate 256 bytes on shared "
        "pool.",
        "Invalid buffer size: 17.32 GB",
        "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB)",
        "CUDA error: out of memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate",
        "[enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: "
        "can't allocate memory: you tried to allocate 8589934592 bytes.",
        "[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not "
        "enough memory: you tried to allocate 8589934592 bytes.",
        "[memory] out of memory: 5.0 MiB more were asked for",
        "[sim] out of memory: 5.0 MiB more were asked for"})
    EXPECT_TRUE(is_out_of_memory(std::runtime_error(words))) << words;
  for (const char* words :
       {"Expected all tensors to be on the same device",
        "expected scalar type Long but found Float",
        "index 4 is out of bounds for dimension 0 with size 4"})
    EXPECT_FALSE(is_out_of_memory(std::runtime_error(words))) << words;
}

} // namespace
} // namespace temper::libtorch
