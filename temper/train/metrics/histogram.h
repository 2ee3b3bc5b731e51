// How the numbers of a tensor are spread: what is kept of weights and gradients
// that nobody wants to keep. For TensorBoard's histograms. No torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/weights.h"

namespace temper::train {

// `counts` of equal buckets between the smallest and the largest number; one of
// them when all are the same.
struct Histogram {
  double low = 0;
  double high = 0;
  std::vector<std::int64_t> counts;
};

// A histogram of the finite numbers of a float32 tensor; no value when there
// are none.
std::optional<Histogram> histogram_of(const graph::TensorData& tensor);

// The histograms of all tensors, by name: {"head.bias": {"low": -1, "high": 2,
// "counts": []}}.
std::string spreads_json(const graph::Weights& tensors);

} // namespace temper::train
