// The vector code behind batch_norm.h, and how sums of chunks become one.
#pragma once

#include <cstdint>

#include "temper/kernels/norm/batch_norm.h"

namespace temper::kernels {

// Rows [begin, end) of each. A chunk's moments are three runs of `channels`
// doubles: a pivot near the mean, and the sums of x - pivot and of its square,
// which keep their digits however far the mean is from zero. A chunk's
// gradient sums are two runs.
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
      double* parts);
  void (*gradient)(
      std::int64_t begin,
      std::int64_t end,
      std::int64_t channels,
      const float* gradient,
      const NormGradient& norm,
      float* x_gradient);
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
void merge_gradient_sums(
    std::int64_t chunks,
    std::int64_t channels,
    const double* parts,
    const GradientSums& sums);

} // namespace temper::kernels
