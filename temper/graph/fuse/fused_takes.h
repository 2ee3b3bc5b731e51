// Whether a group's kernels compute it for given sizes, and in which way its
// convolutions are computed: the questions that model/fused asks of tensors
// before each call, asked of shapes instead. What is not taken is computed by
// LibTorch, node by node. A test holds both answers against each other.
#pragma once

#include "temper/graph/fuse/fusion.h"
#include "temper/graph/ir/shape.h"

namespace temper::graph {

bool fused_takes(const Fusion& fusion, const Inferred& known);

// How a convolution in front of a BatchNorm is computed.
enum class FusedWay {
  kRows, // 1x1, or few channels: as rows of a matrix
  kDepthwise,
  kOther // with filters transformed or windows gathered
};
FusedWay way_of(
    const FusedConvolution& convolution,
    std::int64_t input_channels);

// The sizes of a convolution's result.
Ints convolved(
    const FusedConvolution& convolution,
    const Ints& x,
    std::int64_t outputs);

} // namespace temper::graph
