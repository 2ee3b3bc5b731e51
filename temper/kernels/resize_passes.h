// The two passes of a resize, vectorised. Private to resize.cpp.
#pragma once

#include "temper/kernels/resize.h"

namespace temper::kernels {

// Each row of the window to weights.out pixels, without gaps.
void resize_across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out);

// Rows of `bytes` bytes, row_bytes apart, to weights.out such rows without
// gaps.
void resize_down(
    const ResampleWeights& weights,
    const std::uint8_t* rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* out);

} // namespace temper::kernels
