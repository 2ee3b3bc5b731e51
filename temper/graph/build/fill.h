// The values that a fresh parameter starts with: a distribution, and its draw.
// The draw is a pure function of (seed, name), in arithmetic that every machine
// does alike, so a network starts from the same bits everywhere, whatever
// LibTorch is there. Used by the builder, by room model's initialisation and by
// passes that make new weights.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "temper/graph/ir/weights.h"

namespace temper::graph {

struct Fill {
  enum class Kind { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double value = 0; // of a constant
  double spread = 0; // uniform: between -spread and spread; normal: deviation
  double bound = 0; // normal: draws beyond it are drawn again; 0: none is
  friend bool operator==(const Fill&, const Fill&) = default;
};

Fill constant(double value);
Fill uniform(double bound);
Fill normal(double deviation);
Fill truncated_normal(double deviation, double bound);

// The inputs, or outputs, that one weight of this shape meets: [out, in] of a
// linear layer, [out, in / groups, height, width] of a convolution.
std::int64_t fan_in(const std::vector<std::int64_t>& sizes);
std::int64_t fan_out(const std::vector<std::int64_t>& sizes);

// Which fill a layer's weight, or its bias, gets, from the weight's shape.
using FillRule = Fill (*)(const std::vector<std::int64_t>& weight_sizes);

// The default of nn.Linear and nn.Conv2d, for weight and bias alike: uniform
// below 1 / sqrt(fan_in). PyTorch spells it kaiming_uniform_(a = sqrt(5)).
Fill uniform_fan_in(const std::vector<std::int64_t>& weight_sizes);
Fill zeros(const std::vector<std::int64_t>& weight_sizes);

// A tensor drawn from it. Integers take constants only.
TensorData draw(
    const Fill& fill,
    DType dtype,
    const std::vector<std::int64_t>& sizes,
    std::uint64_t seed,
    std::string_view name);

} // namespace temper::graph
