// The memory that a convolution's backward pass takes on this machine beside
// its arguments and results, found by running it once and asking the CPU's
// allocator. oneDNN keeps other copies with AVX-512 than with AVX2: for small
// images the latter has nothing but a matrix product with a workspace of four
// filters a thread. Used by the memory forecast. No torch here; absent.cpp
// answers without one.
#pragma once

#include <cstdint>
#include <optional>

#include "temper/graph/cost/convolution_case.h"

namespace temper::train {

// Remembered. Of many samples a few are measured, and the line through two
// sizes goes on from there. No value where it cannot be run.
std::optional<std::int64_t> convolution_bytes(
    const graph::ConvolutionCase& asked);

} // namespace temper::train
