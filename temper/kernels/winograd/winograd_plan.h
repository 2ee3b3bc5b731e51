// The jobs of a Winograd convolution, made from its shape. Used by
// winograd.cpp and winograd_gradient.cpp.
// Private to kernels/winograd.
#pragma once

#include "temper/kernels/conv_shape.h"
#include "temper/kernels/winograd/winograd_job.h"

namespace temper::kernels {

// Points of a tile, both ways.
int points_of(WinogradTile tile);
int outputs_of(WinogradTile tile); // along an axis

// Sides, tiles and taps; pointers and blocks are left to the caller. `lanes`:
// of the vector unit.
WinogradJob forward_job(const ConvShape& shape, WinogradTile tile, int lanes);
WinogradJob
data_gradient_job(const ConvShape& shape, WinogradTile tile, int lanes);

// An odd number of cache lines, at least `count` floats.
std::int64_t odd_cache_lines(std::int64_t count);

// Zeros that stay: at least `count` of them.
const float* many_zeros(std::int64_t count);

} // namespace temper::kernels
