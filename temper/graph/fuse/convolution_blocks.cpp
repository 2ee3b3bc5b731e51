#include "temper/graph/fuse/convolution_blocks.h"

#include <algorithm>

namespace temper::graph {
namespace {

// Positions in Fusion::inputs of a convolution with its BatchNorm.
constexpr std::size_t kX = 0;
constexpr std::size_t kFirstOwn = 1; // weight, then four of the BatchNorm
constexpr std::size_t kResidual = 6;

constexpr std::size_t kMostLayers = 4; // one after the other in a block

bool is_pointwise_layer(const Fusion& fusion) {
  const FusedConvolution& convolution = fusion.convolutions.front();
  const std::array<std::int64_t, 2> ones{1, 1};
  return convolution.kernel == ones && convolution.stride == ones &&
      convolution.padding == std::array<std::int64_t, 2>{0, 0} &&
      convolution.groups == 1;
}

bool is_depthwise(const GraphView& view, const Fusion& fusion) {
  const FusedConvolution& convolution = fusion.convolutions.front();
  const Sizes& weight = view.graph().meta(fusion.inputs[kFirstOwn]).sizes;
  return convolution.groups > 1 && convolution.groups == weight[0].value &&
      weight[1].value == 1;
}

// Layers one after the other, and one beside them.
struct Branches {
  std::vector<std::size_t> layers;
  std::optional<std::size_t> shortcut;
};

class BlockSearch {
 public:
  BlockSearch(const GraphView& view, const std::vector<Fusion>& layers)
      : view_(view), layers_(layers) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (layers[i].kind == FusionKind::kConvNormAct)
        by_output_[layers[i].output] = i;
  }

  std::optional<ConvolutionBlock> ending_at(std::size_t last) const {
    if (layers_[last].kind != FusionKind::kConvNormAct) return std::nullopt;
    auto block = inverted_residual(last);
    return block ? block : residual_block(last);
  }

 private:
  std::optional<ConvolutionBlock> inverted_residual(std::size_t last) const {
    const Fusion& project = layers_[last];
    if (!is_pointwise_layer(project)) return std::nullopt;
    const auto middle = layer_before(project);
    if (!middle || !is_depthwise(view_, layers_[*middle])) return std::nullopt;
    const Fusion& depthwise = layers_[*middle];
    Branches branches{{*middle, last}, {}};
    const auto first = layer_before(depthwise);
    if (first && is_pointwise_layer(layers_[*first]) &&
        layers_[*first].act == depthwise.act)
      branches.layers.insert(branches.layers.begin(), *first);
    const std::string& residual = project.inputs[kResidual];
    // A sum with anything but the block's own input is not this block's.
    if (!residual.empty() &&
        (residual != layers_[branches.layers.front()].inputs[kX] ||
         project.act != FusedActivation::kNone))
      return std::nullopt;
    return put_together(FusionKind::kInvertedResidual, branches, last);
  }

  // The two sides of a sum come from the same x, one by way of several layers.
  std::optional<ConvolutionBlock> residual_block(std::size_t last) const {
    const std::string& residual = layers_[last].inputs[kResidual];
    if (residual.empty()) return std::nullopt;
    std::optional<std::size_t> other = layer_of(residual);
    if (other && layers_[*other].act != FusedActivation::kNone) other = {};
    std::optional<Branches> found = layers_from(last, residual, {});
    if (!found && other)
      found = layers_from(last, layers_[*other].inputs[kX], other);
    if (!found && other)
      found = layers_from(*other, layers_[last].inputs[kX], last);
    if (!found) return std::nullopt;
    return put_together(FusionKind::kResidualBlock, *found, last);
  }

  // At least two layers from x to this one, with the same activation between
  // them.
  std::optional<Branches> layers_from(
      std::size_t end,
      const std::string& x,
      std::optional<std::size_t> shortcut) const {
    Branches branches{{end}, shortcut};
    std::vector<std::size_t>& layers = branches.layers;
    while (layers.size() < kMostLayers) {
      const auto before = layer_before(layers_[layers.front()]);
      if (!before) return std::nullopt;
      if (layers.size() > 1 &&
          layers_[*before].act != layers_[layers.front()].act)
        return std::nullopt;
      layers.insert(layers.begin(), *before);
      if (layers_[*before].inputs[kX] == x) return branches;
    }
    return std::nullopt;
  }

  // The layer that makes the value for one reader, and adds nothing to it.
  std::optional<std::size_t> layer_of(const std::string& value) const {
    const auto found = by_output_.find(value);
    if (found == by_output_.end() || !view_.only_reader(value) ||
        !layers_[found->second].inputs[kResidual].empty())
      return std::nullopt;
    return found->second;
  }
  std::optional<std::size_t> layer_before(const Fusion& fusion) const {
    return layer_of(fusion.inputs[kX]);
  }

  static void add_layer(const Fusion& layer, Fusion& whole) {
    whole.nodes.insert(
        whole.nodes.end(), layer.nodes.begin(), layer.nodes.end());
    whole.inputs.insert(
        whole.inputs.end(),
        layer.inputs.begin() + kFirstOwn,
        layer.inputs.begin() + kResidual);
    whole.parts.push_back(layer);
    whole.convolutions.push_back(layer.convolutions.front());
    whole.norms.push_back(layer.norms.front());
  }

  std::optional<ConvolutionBlock> put_together(
      FusionKind kind,
      const Branches& branches,
      std::size_t last) const {
    ConvolutionBlock block;
    Fusion& whole = block.fusion;
    whole.kind = kind;
    block.parts = branches.layers;
    whole.shortcut = branches.shortcut.has_value();
    if (branches.shortcut) block.parts.push_back(*branches.shortcut);
    whole.inputs = {layers_[branches.layers.front()].inputs[kX]};
    for (const std::size_t part : block.parts)
      add_layer(layers_[part], whole);
    std::sort(whole.nodes.begin(), whole.nodes.end());
    whole.act = layers_[branches.layers.front()].act;
    whole.last_act = layers_[last].act;
    whole.output = layers_[last].output;
    whole.residual =
        !whole.shortcut && !layers_[last].inputs[kResidual].empty();
    if (!view_.is_closed(whole) || !view_.can_wait(whole)) return std::nullopt;
    return block;
  }

  const GraphView& view_;
  const std::vector<Fusion>& layers_;
  std::map<std::string, std::size_t> by_output_;
};

} // namespace

std::vector<ConvolutionBlock> convolution_blocks(
    const GraphView& view,
    const std::vector<Fusion>& layers) {
  const BlockSearch search(view, layers);
  std::vector<ConvolutionBlock> found;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (auto block = search.ending_at(i)) found.push_back(std::move(*block));
  return found;
}

} // namespace temper::graph
