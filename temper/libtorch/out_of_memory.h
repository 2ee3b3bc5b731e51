// Was it a lack of memory? LibTorch's devices say so in words of their own and
// with several types, so that every catch would have to know them all. Used by
// the engine, which retries with fewer samples, and by the calibration.
#pragma once

#include <exception>

namespace temper::libtorch {

// True for an error of the CPU, CUDA, MPS, the simulated device, operator new,
// or our own allocator's budget that says there is no memory left.
bool is_out_of_memory(const std::exception& error);

} // namespace temper::libtorch
