// Layers first, each with what follows it, then blocks of layers. A block is
// one group where its parts were three: what lies between them never leaves
// the cache.
#include <algorithm>

#include "temper/graph/fuse/fusion_report.h"
#include "temper/graph/fuse/kernel_rules.h"
#include "temper/graph/fuse/layer_patterns.h"
#include "temper/graph/fuse/transformer_pattern.h"

namespace temper::graph {
namespace {

// Positions in Fusion::inputs of a convolution with its BatchNorm.
constexpr std::size_t kX = 0;
constexpr std::size_t kFirstOwn = 1; // weight, then four of the BatchNorm
constexpr std::size_t kResidual = 6;

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

// A BatchNorm with what follows it, as a convolution's end or by itself.
using ByOutput = std::map<std::string, std::size_t>;

class Blocks {
 public:
  Blocks(const GraphView& view, const std::vector<Fusion>& layers)
      : view_(view), layers_(layers) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (layers[i].kind == FusionKind::kConvNormAct)
        by_output_[layers[i].output] = i;
  }

  // The inverted residual that ends with this layer, and its parts.
  struct Block {
    Fusion fusion;
    std::vector<std::size_t> parts;
  };
  std::optional<Block> ending_at(std::size_t last) const {
    const Fusion& project = layers_[last];
    if (project.kind != FusionKind::kConvNormAct ||
        !is_pointwise_layer(project))
      return std::nullopt;
    const auto middle = part_before(project);
    if (!middle || !is_depthwise(view_, layers_[*middle])) return std::nullopt;
    const Fusion& depthwise = layers_[*middle];
    Block block;
    const auto first = part_before(depthwise);
    if (first && is_pointwise_layer(layers_[*first]) &&
        layers_[*first].inputs[kResidual].empty() &&
        layers_[*first].act == depthwise.act)
      block.parts.push_back(*first);
    block.parts.push_back(*middle);
    block.parts.push_back(last);
    if (!put_together(block)) return std::nullopt;
    return block;
  }

 private:
  // The layer whose result this one alone reads, and nobody else.
  std::optional<std::size_t> part_before(const Fusion& fusion) const {
    const auto found = by_output_.find(fusion.inputs[kX]);
    if (found == by_output_.end()) return std::nullopt;
    if (!view_.only_reader(fusion.inputs[kX])) return std::nullopt;
    const Fusion& before = layers_[found->second];
    if (!before.inputs[kResidual].empty()) return std::nullopt;
    return found->second;
  }

  bool put_together(Block& block) const {
    Fusion& whole = block.fusion;
    whole.kind = FusionKind::kInvertedResidual;
    const Fusion& first = layers_[block.parts.front()];
    const Fusion& last = layers_[block.parts.back()];
    whole.inputs = {first.inputs[kX]};
    for (const std::size_t part : block.parts) {
      const Fusion& layer = layers_[part];
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
    std::sort(whole.nodes.begin(), whole.nodes.end());
    whole.act = layers_[block.parts[block.parts.size() - 2]].act;
    whole.last_act = last.act;
    whole.output = last.output;
    const std::string& residual = last.inputs[kResidual];
    whole.residual = !residual.empty();
    // A sum with anything but the block's own input is not this block's.
    if (whole.residual && residual != first.inputs[kX]) return false;
    if (whole.residual && last.act != FusedActivation::kNone) return false;
    return view_.can_wait(whole);
  }

  const GraphView& view_;
  const std::vector<Fusion>& layers_;
  ByOutput by_output_;
};

std::vector<Fusion> layers_of(GraphView& view) {
  std::vector<Fusion> found;
  using Pattern = std::optional<Fusion> (*)(const GraphView&, std::size_t);
  const Pattern patterns[] = {
      conv_norm_act_at,
      norm_act_at,
      conv_act_pool_at,
      mean_pool_at,
      linear_at,
      layer_norm_at,
      attention_at};
  for (const Pattern pattern : patterns)
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
      if (view.taken(i)) continue;
      auto fusion = pattern(view, i);
      if (!fusion) continue;
      view.take(*fusion);
      found.push_back(std::move(*fusion));
    }
  return found;
}

std::vector<Fusion> with_blocks(
    const GraphView& all,
    std::vector<Fusion> layers) {
  const GraphView fresh(all.graph(), all.options()); // nothing is taken in it
  const Blocks blocks(fresh, layers);
  std::set<std::size_t> merged;
  std::vector<Fusion> found;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto block = blocks.ending_at(i);
    if (!block) continue;
    merged.insert(block->parts.begin(), block->parts.end());
    found.push_back(std::move(block->fusion));
  }
  for (TransformerBlock& block : transformer_blocks(fresh, layers)) {
    merged.insert(block.parts.begin(), block.parts.end());
    found.push_back(std::move(block.fusion));
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (merged.count(i) == 0) found.push_back(layers[i]);
  std::sort(found.begin(), found.end(), [](const Fusion& a, const Fusion& b) {
    return a.nodes.back() < b.nodes.back();
  });
  return found;
}

} // namespace

Fusions find_fusions(const Graph& graph, const FusionOptions& options) {
  GraphView view(graph, options);
  Fusions found;
  found.groups = with_blocks(view, layers_of(view));
  if (options.norms_stay_alone)
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (!view.taken(i) && norm_alone_at(view, i)) found.alone.push_back(i);
  report(view, found);
  return found;
}

} // namespace temper::graph
