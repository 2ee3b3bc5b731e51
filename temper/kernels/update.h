// How parameters follow their gradients, a run of float32 numbers at a time and
// in one pass over them: nothing is allocated, so nothing can fail half way.
// PyTorch's arithmetic, every step rounded, so that all vector units give the
// same bits and so do all ways to cut the numbers into runs. Used by the
// optimisers and by averaged weights.
#pragma once

#include <cstddef>

namespace temper::kernels {

struct SgdRule {
  float rate = 0;
  float l2 = 0; // of the weight, added to its gradient
  float momentum = 0;
  bool nesterov = false;
};

// `momentum` may be null: none is kept.
void sgd(
    const SgdRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* momentum);

struct AdamRule {
  float rate = 0; // already divided by the first moment's correction
  float keep = 1; // of the weight: decay beside the gradient
  float l2 = 0; // of the weight, added to its gradient
  float beta1 = 0.9F;
  float rest1 = 0.1F; // 1 - beta1
  float beta2 = 0.999F;
  float rest2 = 0.001F;
  float correction = 1; // the second moment's root is divided by it
  float eps = 0;
};

void adam(
    const AdamRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* first,
    float* second);

struct LionRule {
  float rate = 0;
  float keep = 1;
  float beta1 = 0.9F;
  float rest1 = 0.1F;
  float beta2 = 0.99F;
  float rest2 = 0.01F;
};

void lion(
    const LionRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* average);

// average += (goal - average) * by, written as PyTorch's lerp.
void approach(float by, std::size_t count, const float* goal, float* average);

} // namespace temper::kernels
