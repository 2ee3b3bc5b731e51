// The weights, inputs and labels that reference/zoo.py computes too: whole
// numbers mixed from a name and an index, and float32 values made of them
// exactly. Used by the tests that hold the zoo against PyTorch.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::model::formula {

inline std::uint32_t bits(std::string_view name, std::uint32_t index) {
  std::uint32_t key = 2166136261U;
  for (const char letter : name)
    key = (key ^ static_cast<unsigned char>(letter)) * 16777619U;
  std::uint32_t x = key + index * 0x9E3779B9U;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}

// From -1 to below 1.
inline float unit(std::string_view name, std::uint32_t index) {
  return static_cast<float>(bits(name, index) >> 8) / 8388608.0F - 1.0F;
}

inline float weight(
    std::string_view name,
    const std::vector<std::int64_t>& sizes,
    std::uint32_t index) {
  const auto ends = [&](std::string_view end) {
    return name.size() >= end.size() &&
        name.substr(name.size() - end.size()) == end;
  };
  const float u = unit(name, index);
  if (sizes.size() > 1) {
    double fan_in = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i)
      fan_in *= static_cast<double>(sizes[i]);
    double bound = 1;
    while (6 < fan_in * bound * bound)
      bound /= 2;
    return u * static_cast<float>(bound);
  }
  if (ends("running_var")) return 1.0F + u * 0.5F;
  if (ends("weight")) return 1.0F + u * 0.25F;
  return u * 0.125F;
}

// The program with those weights; its counters stay.
inline void set_weights(graph::Program& program) {
  for (auto& [name, tensor] : program.weights) {
    if (tensor.dtype != graph::DType::kFloat32) continue;
    graph::NewTensor made = graph::make_tensor(tensor.dtype, tensor.sizes);
    const auto count =
        static_cast<std::uint32_t>(graph::element_count(tensor.sizes));
    auto* values = reinterpret_cast<float*>(made.bytes);
    for (std::uint32_t i = 0; i < count; ++i)
      values[i] = weight(name, tensor.sizes, i);
    tensor = made.data;
  }
}

} // namespace temper::model::formula
