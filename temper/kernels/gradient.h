// Gradients before the update: how long they are, and clipped; a run of float32
// numbers at a time. All vector units give the same bits. Used by training,
// which cuts many tensors into runs of fixed lengths.
#pragma once

#include <cstddef>

namespace temper::kernels {

// The sum of squares in float64. A square is exact there, and the numbers are
// added in an order that `count` alone decides.
double sum_of_squares(std::size_t count, const float* numbers);

struct ClipRule {
  float factor = 1; // of every number, first
  float limit = 0; // then none is farther from zero; 0: there is none
};

// In place, as PyTorch's mul_ and clamp_ do it.
void clip(const ClipRule& rule, std::size_t count, float* numbers);

} // namespace temper::kernels
