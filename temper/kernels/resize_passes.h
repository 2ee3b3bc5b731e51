// The two passes of a resize, vectorised.
// Private to kernels.
#pragma once

#include "temper/kernels/resize.h"

namespace temper::kernels {

// Each row of the window to weights.out pixels, without gaps.
void resize_across(
    const ResampleWeights& weights,
    const Window& in,
    std::uint8_t* out);

// Row y of the result, from rows of `bytes` bytes that lie row_bytes apart.
void resize_down_row(
    const ResampleWeights& weights,
    int y,
    const std::uint8_t* rows,
    std::size_t row_bytes,
    std::size_t bytes,
    std::uint8_t* out);

} // namespace temper::kernels
