// Working memory of kernels: each thread has its own, it only grows, and it is
// used again by the next call, so that a step after the first touches no fresh
// page. A kernel takes all it needs at its beginning and gives nothing back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace temper::kernels {

// Slots tell the buffers of one thread apart that are in use at once: a kernel
// that calls another must not share a slot with it. Slots below 8 belong to the
// outermost kernel, 8 to 15 to what it calls (packing, multiplication).
constexpr int kScratchSlots = 16;

// At least `count` floats, aligned to 64 bytes, not initialised, valid until
// the same thread asks for the same slot again. Throws std::bad_alloc.
float* scratch(int slot, std::size_t count);

// Held by all threads together.
std::uint64_t scratch_bytes();

// The bytes that all threads will hold once each of `threads` has had its share
// of the calls made so far, of which this thread made all: who takes which
// chunk of a call is chance, what a chunk asks for is not. For forecasts.
std::uint64_t scratch_bytes_with(int threads);

} // namespace temper::kernels
