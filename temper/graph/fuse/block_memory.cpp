#include "temper/graph/fuse/block_memory.h"

#include <algorithm>

#include "temper/graph/fuse/fused_takes.h"
#include "temper/graph/ir/saturating.h"

namespace temper::graph {
namespace {

constexpr std::size_t kOfALayer = 5; // inputs of a convolution and its norm

// A block's convolutions by their place in the order they run, a shortcut last.
class BlockTensors {
 public:
  explicit BlockTensors(const GroupTensors& group) : group_(group) {
    const Fusion& fusion = group.fusion();
    layers_ = fusion.convolutions.size() - (fusion.shortcut ? 1 : 0);
    Ints sizes = group.sizes(0);
    for (std::size_t i = 0; i < fusion.convolutions.size(); ++i) {
      if (i == layers_) sizes = group.sizes(0);
      const FusedConvolution& of = fusion.convolutions[i];
      ways_.push_back(way_of(of, sizes[1]));
      sizes = convolved(of, sizes, group.sizes(weight(i))[0]);
      written_.push_back(kFloatBytes * product_of(sizes));
    }
  }

  std::size_t layers() const { // without the shortcut
    return layers_;
  }
  bool has_shortcut() const {
    return ways_.size() > layers_;
  }
  std::int64_t written(std::size_t i) const {
    return written_[i];
  }
  bool by_windows(std::size_t i) const {
    return ways_[i] == FusedWay::kOther;
  }
  // Whether x's gradient can be added where another one lies.
  bool adds_in_place() const {
    const FusedConvolution& first = group_.fusion().convolutions.front();
    return ways_[0] == FusedWay::kOther ||
        (ways_[0] == FusedWay::kRows && first.kernel[0] == 1 &&
         first.stride[0] == 1);
  }
  bool makes_both_gradients(std::size_t i) const {
    return ways_[i] == FusedWay::kDepthwise;
  }
  std::int64_t filters(std::size_t i) const {
    return ways_[i] == FusedWay::kDepthwise ? 0 : group_.image_copy(weight(i));
  }
  std::int64_t states() const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < ways_.size(); ++i)
      bytes += kNormStateBytes * group_.sizes(weight(i))[0];
    return bytes;
  }
  bool wants_weight(std::size_t i) const {
    return group_.wanted(weight(i));
  }
  // The gradients of weights of the layers before this one.
  std::int64_t pending(std::size_t i) const {
    std::int64_t bytes = 0;
    for (std::size_t before = 0; before < i; ++before)
      if (wants_weight(before)) bytes += group_.bytes(weight(before));
    return bytes;
  }
  // Whether a gradient is wanted of x or of a layer before this one.
  bool goes_on(std::size_t i) const {
    for (std::size_t input = 0; input < weight(i); ++input)
      if (group_.wanted(input)) return true;
    return false;
  }

 private:
  static std::size_t weight(std::size_t i) {
    return 1 + kOfALayer * i;
  }

  const GroupTensors& group_;
  std::size_t layers_ = 0;
  std::vector<FusedWay> ways_;
  std::vector<std::int64_t> written_; // bytes
};

// Without a backward pass each result is there until the next one is made; the
// last becomes the block's.
std::int64_t passing_forward(const BlockTensors& block) {
  std::int64_t most = block.written(0) + block.filters(0);
  for (std::size_t i = 1; i < block.layers(); ++i)
    most = std::max(
        most, block.written(i - 1) + block.written(i) + block.filters(i));
  const std::size_t last = block.layers() - 1;
  if (block.has_shortcut())
    most = std::max(
        most,
        block.written(last) + block.written(last + 1) +
            block.filters(last + 1));
  return std::max<std::int64_t>(0, most - block.written(last));
}

// The tensors of a backward pass, as the op takes and gives them back
// (model/fused/conv_chain.cpp), beside the gradients of all inputs: those of
// weights come one after the other.
std::int64_t passing_backward(
    const GroupTensors& group,
    const BlockTensors& block) {
  const std::size_t last = block.layers() - 1;
  const bool adds = group.fusion().residual || block.has_shortcut();
  const std::int64_t of_x = group.wanted(0) ? group.bytes(0) : 0;
  // The gradient behind the activation that follows the sum.
  const bool writes = adds && group.fusion().last_act != FusedActivation::kNone;
  std::int64_t arriving = writes ? block.written(last) : 0;
  std::int64_t held = arriving;
  const std::size_t all = last + (block.has_shortcut() ? 2 : 1);
  std::int64_t most = std::max<std::int64_t>(0, held - block.pending(all));
  if (block.has_shortcut() && (of_x > 0 || block.wants_weight(last + 1))) {
    held += of_x;
    most = std::max(
        most,
        held + block.filters(last + 1) +
            (block.by_windows(last + 1) ? block.written(last + 1) : 0) -
            block.pending(last + 1));
  }
  const bool in_place =
      (block.has_shortcut() || (writes && adds)) && block.adds_in_place();
  bool spends = writes && !(group.fusion().residual && of_x > 0);
  for (std::size_t i = last + 1; i-- > 0;) {
    const bool goes_on = block.goes_on(i);
    if (!goes_on && !block.wants_weight(i)) break;
    std::int64_t made = 0;
    if (i > 0 && (goes_on || block.makes_both_gradients(i)))
      made = block.written(i - 1);
    else if (i == 0 && !in_place)
      made = block.makes_both_gradients(0) ? group.bytes(0) : of_x;
    const bool copies = block.by_windows(i) && !spends;
    most = std::max(
        most,
        held + made + block.filters(i) + (copies ? block.written(i) : 0) -
            block.pending(i));
    // The gradient that arrived is given back, unless x's is added to it.
    if (i < last || spends) held -= arriving;
    held += made;
    arriving = made;
    spends = true;
  }
  return std::max<std::int64_t>(0, most - of_x);
}

} // namespace

FusedMemory of_convolution_block(const GroupTensors& group) {
  FusedMemory memory;
  const BlockTensors block(group);
  const std::int64_t x = group.image_copy(0);
  keep_input(memory, group, 0, x);
  const std::size_t all = block.layers() + (block.has_shortcut() ? 1 : 0);
  for (std::size_t i = 0; i < all; ++i) {
    memory.kept_bytes += block.written(i);
    memory.forward_bytes = std::max(memory.forward_bytes, block.filters(i));
  }
  memory.kept_bytes += block.states();
  memory.eval_bytes = x + block.states() + passing_forward(block);
  memory.backward_bytes =
      group.gradient_copy() + passing_backward(group, block);
  return memory;
}

} // namespace temper::graph
