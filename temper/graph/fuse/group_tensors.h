// The tensors of one group as its memory is counted, for fused_memory.cpp and
// block_memory.cpp.
// Private to graph/fuse.
#pragma once

#include "temper/graph/fuse/fused_memory.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {

constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kNormStateBytes = 4 * kFloatBytes; // a channel's, kept

// A group's tensors by their place among its inputs.
class GroupTensors {
 public:
  explicit GroupTensors(const FusedCall& call) : call_(call) {}

  const Fusion& fusion() const {
    return call_.fusion;
  }
  bool has(std::size_t input) const {
    return input < fusion().inputs.size() && !fusion().inputs[input].empty();
  }
  const std::string& name(std::size_t input) const {
    return fusion().inputs[input];
  }
  const Ints& sizes(std::size_t input) const {
    return call_.known.tensors.at(name(input)).sizes;
  }
  std::int64_t bytes(std::size_t input) const {
    return has(input) ? bytes_of(call_.known.tensors.at(name(input))) : 0;
  }
  std::int64_t result_bytes() const {
    return bytes_of(call_.known.tensors.at(fusion().output));
  }
  bool wanted(std::size_t input) const {
    return has(input) && call_.with_gradient.count(name(input)) > 0;
  }
  // The result's gradient in the order that kernels want.
  std::int64_t gradient_copy() const {
    return call_.copies_gradient ? result_bytes() : 0;
  }
  // An image or its filters with channels last: itself, or a copy.
  std::int64_t image_copy(std::size_t input) const {
    if (!has(input)) return 0;
    const Ints& strides = call_.places.at(name(input)).strides;
    return has_channels_last(sizes(input), strides) ? 0 : bytes(input);
  }
  bool in_order(std::size_t input) const {
    return graph::in_order(sizes(input), call_.places.at(name(input)).strides);
  }
  // Dense rows of the last dimension: a view, or a copy.
  std::int64_t rows_copy(std::size_t input) const {
    const Ints& of = sizes(input);
    const Ints& strides = call_.places.at(name(input)).strides;
    const auto rows =
        viewed(of, strides, {element_count(of) / of.back(), of.back()});
    return rows && (of.back() == 1 || rows->back() == 1) ? 0 : bytes(input);
  }
  bool dense_last(std::size_t input) const {
    return sizes(input).back() == 1 ||
        call_.places.at(name(input)).strides.back() == 1;
  }

 private:
  const FusedCall& call_;
};

// The input itself is kept, or its copy.
inline void keep_input(
    FusedMemory& memory,
    const GroupTensors& group,
    std::size_t input,
    std::int64_t copy) {
  if (copy > 0)
    memory.kept_bytes += copy;
  else
    memory.kept.push_back(group.name(input));
}

} // namespace temper::graph
