// One convolution of a graph in numbers, for asking what its backward pass
// takes on the machine that computes it: which copies and workspace a library
// needs depends on the processor, and no table of ours can know them all. Asked
// by liveness, answered by train/engine/convolution_trial.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "temper/graph/infer/infer.h"

namespace temper::graph {

struct ConvolutionCase {
  Ints input; // sizes, samples first
  Ints weight;
  Ints stride, padding, dilation, output_padding; // one number a dimension
  std::int64_t groups = 1;
  bool transposed = false;
  // Gradients that are computed.
  bool of_input = true;
  bool of_weight = true;
  bool of_bias = false;
  bool channels_last = false;
  int threads = 1;

  auto operator<=>(const ConvolutionCase&) const = default;
};

// No value for a node that is no convolution of batches in float32, or one
// whose padding differs between its sides.
std::optional<ConvolutionCase> convolution_case(
    const Node& node,
    const Inferred& known);

// Bytes that the backward pass takes at most beside its arguments and results,
// or no value where nobody can tell.
using ConvolutionBytes =
    std::function<std::optional<std::int64_t>(const ConvolutionCase&)>;

// More than any implementation is known to take: both sides in an order of its
// own, a window for every position and four filters a thread, and for filters
// of one channel blocks of 16 by 16 that are mostly empty.
std::int64_t most_convolution_bytes(
    const ConvolutionCase& asked,
    const Ints& result);

} // namespace temper::graph
