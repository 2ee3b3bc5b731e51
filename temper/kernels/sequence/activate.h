// Activations by themselves, over plain runs of numbers: both forms of GELU and
// the others, with their exact derivatives.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/activation.h"

namespace temper::kernels {

// y may be x.
void activate_forward(
    Activation act,
    std::int64_t count,
    const float* x,
    float* y);

// dx = gradient * act'(x); dx may be the gradient.
void activate_backward(
    Activation act,
    std::int64_t count,
    const float* x,
    const float* gradient,
    float* dx);

struct ActivateTable {
  void (*forward)(Activation, std::int64_t, const float*, float*);
  void (
      *backward)(Activation, std::int64_t, const float*, const float*, float*);
};

} // namespace temper::kernels
