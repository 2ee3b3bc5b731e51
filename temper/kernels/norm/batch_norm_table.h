// The vector code behind batch_norm.h, and how sums of chunks become one.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

// Rows [begin, end) of each. A chunk's moments are three runs of `channels`
// doubles: a pivot near the mean, and the sums of x - pivot and of its square,
// which keep their digits however far the mean is from zero. A chunk's
// gradient sums are two runs; those of a normalised residual are others.
struct BatchNormTable {
  void (*moments)(
      std::int64_t begin,
      std::int64_t end,
      std::int64_t channels,
      const float* x,
      double* parts);
  void (*apply)(const NormApply& job, std::int64_t begin, std::int64_t end);
  void (*sums)(
      const NormSums& job,
      std::int64_t begin,
      std::int64_t end,
      double* parts,
      double* residual_parts);
  void (*gradient)(
      std::int64_t begin,
      std::int64_t end,
      std::int64_t channels,
      const float* gradient,
      const NormGradient& norm,
      float* x_gradient);
  // `parts` may be null without a normalisation before.
  void (*end)(
      std::int64_t begin,
      std::int64_t end,
      std::int64_t channels,
      const GradientEnd& how,
      float* x_gradient,
      double* parts);
};

constexpr std::int64_t kMomentRuns = 3;
constexpr std::int64_t kGradientRuns = 2;

// `counts[i]` rows went into the i-th chunk's parts.
void merge_moments(
    std::int64_t chunks,
    std::int64_t channels,
    const std::int64_t* counts,
    const double* parts,
    const Moments& moments);
// The end of a gradient that was written without it, in a pass of its own.
void end_gradient(
    std::int64_t rows,
    std::int64_t channels,
    const GradientEnd& end,
    float* x_gradient);

void merge_gradient_sums(
    std::int64_t chunks,
    std::int64_t channels,
    const double* parts,
    const GradientSums& sums);

} // namespace temper::kernels
