// Layers first, each with what follows it, then blocks of layers. A block is
// one group where its parts were three: what lies between them never leaves
// the cache.
#include <algorithm>

#include "temper/graph/fuse/convolution_blocks.h"
#include "temper/graph/fuse/fusion_report.h"
#include "temper/graph/fuse/kernel_rules.h"
#include "temper/graph/fuse/layer_patterns.h"
#include "temper/graph/fuse/transformer_pattern.h"

namespace temper::graph {
namespace {

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
  std::set<std::size_t> merged;
  std::vector<Fusion> found;
  for (ConvolutionBlock& block : convolution_blocks(fresh, layers)) {
    merged.insert(block.parts.begin(), block.parts.end());
    found.push_back(std::move(block.fusion));
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
