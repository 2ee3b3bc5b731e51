#include "temper/graph/fuse/fused_takes.h"

#include <algorithm>

#include "temper/graph/fuse/kernel_rules.h"

namespace temper::graph {
namespace {

constexpr std::int64_t kFewChannels = 4; // whose patches are no burden
constexpr std::int64_t kLargestPatch = 7;
constexpr std::size_t kPerLayer = 5; // inputs of a convolution and its norm

bool both(const std::array<std::int64_t, 2>& pair, std::int64_t value) {
  return pair[0] == value && pair[1] == value;
}

bool is_square_convolution(const FusedConvolution& of) {
  return both(of.dilation, 1) && of.kernel[0] == of.kernel[1] &&
      of.stride[0] == of.stride[1] && of.padding[0] == of.padding[1];
}

bool is_depthwise_way(const FusedConvolution& of, std::int64_t channels) {
  return fits_depthwise_kernels(of) && of.groups == channels && of.groups > 1;
}

bool is_rows_way(const FusedConvolution& of, std::int64_t channels) {
  if (!is_square_convolution(of) || of.groups != 1 || of.stride[0] < 1)
    return false;
  if (of.kernel[0] == 1) return of.padding[0] == 0;
  return channels <= kFewChannels && of.kernel[0] <= kLargestPatch &&
      of.padding[0] < of.kernel[0];
}

class GroupShapes {
 public:
  GroupShapes(const Fusion& fusion, const Inferred& known)
      : fusion_(fusion), known_(known) {}

  bool has(std::size_t input) const {
    return input < fusion_.inputs.size() && !fusion_.inputs[input].empty();
  }
  const Ints& sizes(std::size_t input) const {
    return known_.tensors.at(fusion_.inputs[input]).sizes;
  }
  // Floats, and some of them.
  bool plain() const {
    return std::all_of(
        fusion_.inputs.begin(),
        fusion_.inputs.end(),
        [&](const std::string& value) {
          if (value.empty()) return true;
          const auto found = known_.tensors.find(value);
          return found != known_.tensors.end() &&
              found->second.dtype == DType::kFloat32 &&
              std::none_of(
                     found->second.sizes.begin(),
                     found->second.sizes.end(),
                     [](std::int64_t size) { return size == 0; });
        });
  }

 private:
  const Fusion& fusion_;
  const Inferred& known_;
};

// By windows, gathered or transformed.
bool gathers(const FusedConvolution& of, const Ints& x, const Ints& weight) {
  if (of.groups != 1 || !both(of.dilation, 1) || x.size() != 4 ||
      weight.size() != 4 || x[1] != weight[1])
    return false;
  const auto along = [&](std::size_t i) {
    return of.stride[i] >= 1 && of.padding[i] >= 0 &&
        weight[2 + i] <= kLargestKernel &&
        x[2 + i] + 2 * of.padding[i] >= weight[2 + i];
  };
  return along(0) && along(1);
}

bool convolves(const FusedConvolution& of, const Ints& x, const Ints& weight) {
  if (x.size() != 4 || weight.size() != 4) return false;
  const FusedWay way = way_of(of, x[1]);
  if (weight[2] != of.kernel[0] || weight[3] != of.kernel[1]) return false;
  if (way == FusedWay::kOther) return gathers(of, x, weight);
  if (way == FusedWay::kDepthwise) return weight[0] == x[1] && weight[1] == 1;
  const std::int64_t reach = of.kernel[0] - 2 * of.padding[0];
  return weight[1] == x[1] && x[2] >= reach && x[3] >= reach;
}

// One row has no variance.
bool normalises(const FusedNorm& norm, const Ints& sizes) {
  return !norm.training || sizes[0] * sizes[2] * sizes[3] > 1;
}

bool conv_norm_act(const Fusion& fusion, const GroupShapes& shapes) {
  const FusedConvolution& of = fusion.convolutions.front();
  if (!follows_norm(fusion.act) ||
      !convolves(of, shapes.sizes(0), shapes.sizes(1)))
    return false;
  const Ints made = convolved(of, shapes.sizes(0), shapes.sizes(1)[0]);
  return (!shapes.has(6) || shapes.sizes(6) == made) &&
      normalises(fusion.norms.front(), made);
}

// A convolution of a block with its norm; `sizes` of x become its result's.
bool takes_layer(
    const Fusion& fusion,
    const GroupShapes& shapes,
    std::size_t layer,
    Ints& sizes) {
  const FusedConvolution& of = fusion.convolutions[layer];
  const Ints& weight = shapes.sizes(1 + kPerLayer * layer);
  if (!convolves(of, sizes, weight)) return false;
  sizes = convolved(of, sizes, weight[0]);
  return normalises(fusion.norms[layer], sizes);
}

// Whether a norm before the convolution can be applied to what it reads.
bool takes_norm_before(const FusedConvolution& of, const Ints& x) {
  return way_of(of, x[1]) != FusedWay::kRows ||
      (of.kernel[0] == 1 && of.stride[0] == 1);
}

bool convolution_block(const Fusion& fusion, const GroupShapes& shapes) {
  Ints sizes = shapes.sizes(0);
  Ints added = sizes;
  if (sizes.size() != 4) return false;
  const std::size_t layers =
      fusion.convolutions.size() - (fusion.shortcut ? 1 : 0);
  if (!follows_norm(fusion.last_act)) return false;
  for (std::size_t i = 0; i < layers; ++i) {
    if (i > 0 &&
        (!follows_norm(fusion.act) ||
         !takes_norm_before(fusion.convolutions[i], sizes)))
      return false;
    if (!takes_layer(fusion, shapes, i, sizes)) return false;
  }
  if (fusion.shortcut && !takes_layer(fusion, shapes, layers, added))
    return false;
  return !(fusion.residual || fusion.shortcut) || sizes == added;
}

bool conv_act_pool(const Fusion& fusion, const GroupShapes& shapes) {
  const FusedConvolution& of = fusion.convolutions.front();
  const bool known = fusion.act == FusedActivation::kRelu ||
      fusion.act == FusedActivation::kNone;
  if (fusion.pool != 2 || !known ||
      !gathers(of, shapes.sizes(0), shapes.sizes(1)))
    return false;
  const Ints& weight = shapes.sizes(1);
  const Ints made = convolved(of, shapes.sizes(0), weight[0]);
  return weight[2] == 3 && weight[3] == 3 && both(of.stride, 1) &&
      of.padding[0] == of.padding[1] && of.padding[0] <= 1 &&
      weight[1] <= kMostPooledChannels && made[2] >= 2 && made[3] >= 2;
}

bool multiplies(const GroupShapes& shapes) {
  const Ints& x = shapes.sizes(0);
  const Ints& weight = shapes.sizes(1);
  if (x.empty() || weight.size() != 2 || weight[1] != x.back()) return false;
  Ints made = x;
  made.back() = weight[0];
  return !shapes.has(3) || shapes.sizes(3) == made;
}

bool multiplies_image(const GroupShapes& shapes) {
  const Ints& x = shapes.sizes(0);
  const Ints& weight = shapes.sizes(1);
  return x.size() == 4 && weight.size() == 2 &&
      weight[1] == x[1] * x[2] * x[3] &&
      (!shapes.has(3) || shapes.sizes(3) == Ints{x[0], weight[0]});
}

// Above this many weights the layers of a block are computed one by one.
constexpr std::int64_t kMostBlockWeights = 4 << 20;

bool is_transformer_block(const Fusion& fusion, const GroupShapes& shapes) {
  constexpr std::size_t kFirstOfTwo = 9; // weight of the first linear layer
  const Ints& x = shapes.sizes(0);
  if (x.size() != 3 || shapes.sizes(kFirstOfTwo).size() != 2) return false;
  const std::int64_t features = x[2];
  const std::int64_t hidden = shapes.sizes(kFirstOfTwo)[0];
  return features % fusion.heads == 0 &&
      features * (4 * features + 2 * hidden) <= kMostBlockWeights;
}

bool attends(const GroupShapes& shapes) {
  const Ints& q = shapes.sizes(0);
  const Ints& k = shapes.sizes(1);
  const Ints& v = shapes.sizes(2);
  for (const Ints* one : {&q, &k, &v})
    if (one->size() != 4 || (*one)[0] != q[0] || (*one)[1] != q[1])
      return false;
  return k[2] == v[2] && k[3] == q[3];
}

} // namespace

FusedWay way_of(
    const FusedConvolution& convolution,
    std::int64_t input_channels) {
  if (is_depthwise_way(convolution, input_channels))
    return FusedWay::kDepthwise;
  if (is_rows_way(convolution, input_channels)) return FusedWay::kRows;
  return FusedWay::kOther;
}

Ints convolved(
    const FusedConvolution& convolution,
    const Ints& x,
    std::int64_t outputs) {
  Ints made{x[0], outputs};
  for (std::size_t i : {0, 1})
    made.push_back(
        (x[2 + i] + 2 * convolution.padding[i] -
         convolution.dilation[i] * (convolution.kernel[i] - 1) - 1) /
            convolution.stride[i] +
        1);
  return made;
}

bool fused_takes(const Fusion& fusion, const Inferred& known) {
  const GroupShapes shapes(fusion, known);
  if (!shapes.plain()) return false;
  switch (fusion.kind) {
    case FusionKind::kConvolution:
      return fusion.convolutions.front().groups > 1
          ? shapes.sizes(0).size() == 4 &&
              way_of(fusion.convolutions.front(), shapes.sizes(0)[1]) ==
                  FusedWay::kDepthwise &&
              convolves(
                  fusion.convolutions.front(), shapes.sizes(0), shapes.sizes(1))
          : gathers(
                fusion.convolutions.front(), shapes.sizes(0), shapes.sizes(1));
    case FusionKind::kConvNormAct:
      return conv_norm_act(fusion, shapes);
    case FusionKind::kNormAct:
      return follows_norm(fusion.act) && shapes.sizes(0).size() == 4 &&
          (!shapes.has(5) || shapes.sizes(5) == shapes.sizes(0)) &&
          normalises(fusion.norms.front(), shapes.sizes(0));
    case FusionKind::kInvertedResidual:
    case FusionKind::kResidualBlock:
      return convolution_block(fusion, shapes);
    case FusionKind::kConvActPool:
      return conv_act_pool(fusion, shapes);
    case FusionKind::kLinear:
      return multiplies(shapes);
    case FusionKind::kImageLinear:
      return multiplies_image(shapes);
    case FusionKind::kLayerNorm:
      return !shapes.sizes(0).empty();
    case FusionKind::kAttention:
      return attends(shapes);
    case FusionKind::kMeanPool:
      return shapes.sizes(0).size() == 4;
    case FusionKind::kTransformerBlock:
      return is_transformer_block(fusion, shapes);
  }
  return false;
}

} // namespace temper::graph
