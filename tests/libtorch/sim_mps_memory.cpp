#include "sim_mps_memory.h"

#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>

namespace temper::sim_mps {
namespace {

// What a device pointer owns: memory of its own, or a CPU result taken over.
struct Block {
  void* memory;
  std::size_t bytes;
  c10::Storage adopted;
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  state().in_use -= static_cast<std::int64_t>(block->bytes);
  if (!block->adopted) std::free(block->memory);
  delete block;
}

c10::DataPtr owned(void* memory, std::size_t bytes, c10::Storage adopted) {
  state().in_use += static_cast<std::int64_t>(bytes);
  return {
      memory,
      new Block{memory, bytes, std::move(adopted)},
      &release,
      c10::Device(kMps, 0)};
}

c10::DataPtr take(std::size_t bytes) {
  TORCH_CHECK(
      state().fault != Fault::no_memory,
      "MPS backend out of memory (MPS allocated: 0 bytes, other allocations: 0 "
      "bytes, max allowed: 1.70 GB). Tried to allocate ",
      bytes,
      " bytes on shared pool.");
  return owned(bytes > 0 ? std::malloc(bytes) : nullptr, bytes, {});
}

// The two ways LibTorch has declared this interface: allocate() lost its const
// and copy_data() was added in 2.3. Neither is marked override, so that one
// class serves both.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
struct SimAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) const {
    return take(bytes);
  }
  c10::DataPtr allocate(std::size_t bytes) {
    return take(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};
#pragma GCC diagnostic pop

SimAllocator sim_allocator;
const bool allocator_set = [] {
  c10::SetAllocator(kMps, &sim_allocator);
  return true;
}();

} // namespace

State& state() {
  static State all;
  return all;
}

c10::Allocator& allocator() {
  return sim_allocator;
}

c10::DataPtr adopt_memory(const c10::Storage& host) {
  return owned(
      host.unsafeGetStorageImpl()->data_ptr().get(), host.nbytes(), host);
}

void set_fault(Fault value) {
  state().fault = value;
}

std::int64_t operators_run() {
  return state().operators;
}

std::int64_t copies_to_device() {
  return state().copies_to;
}

std::int64_t reads_from_device() {
  return state().reads_from;
}

std::int64_t bytes_in_use() {
  return state().in_use;
}

} // namespace temper::sim_mps
