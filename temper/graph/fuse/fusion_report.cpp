#include "temper/graph/fuse/fusion_report.h"

#include <algorithm>
#include <map>

#include "temper/base/text.h"
#include "temper/graph/fuse/kernel_rules.h"
#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {
namespace {

using Counted = bool (*)(const GraphView&, std::size_t);

bool counts_as_layer(const GraphView& view, std::size_t index, Layer layer) {
  const Operator* page = find_operator(view.node(index));
  return page != nullptr && page->layer == layer;
}

bool is_convolution(const GraphView& view, std::size_t index) {
  return counts_as_layer(view, index, Layer::kConvolution) ||
      counts_as_layer(view, index, Layer::kTransposedConvolution);
}

bool is_depthwise_convolution(const GraphView& view, std::size_t index) {
  if (!counts_as_layer(view, index, Layer::kConvolution)) return false;
  const NodeArguments arguments(view.node(index));
  const std::int64_t groups = arguments.integer("groups", 1);
  const auto weight =
      view.graph().tensors.find(arguments.tensor_name("weight"));
  return groups > 1 && weight != view.graph().tensors.end() &&
      weight->second.sizes.size() == 4 &&
      weight->second.sizes[0] == Size(groups) &&
      weight->second.sizes[1] == Size(1);
}

bool is_norm(const GraphView& view, std::size_t index) {
  return is_batch_norm(view.node(index));
}

struct CountedLayers {
  const char* called;
  Counted counts;
  bool within; // a part of the kind before it
};

constexpr CountedLayers kCountedLayers[] = {
    {"convolutions", is_convolution, false},
    {"depthwise", is_depthwise_convolution, true},
    {"BatchNorm", is_norm, false},
    {"linear",
     [](const GraphView& view, std::size_t index) {
       return view.name(index) == "linear";
     },
     false},
    {"LayerNorm",
     [](const GraphView& view, std::size_t index) {
       return view.name(index) == "layer_norm";
     },
     false},
    {"attention",
     [](const GraphView& view, std::size_t index) {
       return counts_as_layer(view, index, Layer::kAttention);
     },
     false}};

void add_left(std::vector<LeftLayers>& left, const std::string& why) {
  const auto same =
      std::find_if(left.begin(), left.end(), [&](const LeftLayers& each) {
        return each.why == why;
      });
  if (same == left.end())
    left.push_back({why, 1});
  else
    ++same->count;
}

std::string left_text(const std::vector<LeftLayers>& left) {
  std::int64_t all = 0;
  std::vector<std::string> reasons;
  for (const LeftLayers& each : left) {
    all += each.count;
    reasons.push_back(
        left.size() == 1 ? each.why : cat(each.why, " (", each.count, ")"));
  }
  return cat(all, " left to LibTorch: ", join(reasons, ", "));
}

} // namespace

void report(const GraphView& view, Fusions& found) {
  std::set<std::size_t> inside(found.alone.begin(), found.alone.end());
  std::map<FusionKind, std::int64_t> blocks;
  for (const Fusion& group : found.groups) {
    inside.insert(group.nodes.begin(), group.nodes.end());
    ++blocks[group.kind];
  }
  std::vector<std::string> parts;
  for (const CountedLayers& kind : kCountedLayers) {
    FusedCount count{kind.called, 0, 0};
    for (std::size_t i = 0; i < view.graph().nodes.size(); ++i) {
      if (!kind.counts(view, i)) continue;
      ++count.all;
      if (inside.count(i) > 0) {
        ++count.fused;
      } else if (!kind.within) {
        const std::string why = why_left(view, i);
        add_left(found.left, why.empty() ? "its place in the graph" : why);
      }
    }
    if (count.all == 0) continue;
    found.counts.push_back(count);
    parts.push_back(cat(count.fused, " of ", count.all, " ", count.what));
  }
  std::stable_sort(
      found.left.begin(),
      found.left.end(),
      [](const LeftLayers& a, const LeftLayers& b) {
        return a.count > b.count;
      });
  if (found.groups.empty()) return;
  found.report = cat(join(parts, ", "), parts.empty() ? "" : " fused");
  const auto name_blocks = [&](FusionKind kind, const char* called) {
    if (blocks[kind] > 0)
      found.report += cat(", in ", plural(blocks[kind], called));
  };
  name_blocks(FusionKind::kInvertedResidual, "inverted residual");
  name_blocks(FusionKind::kResidualBlock, "residual block");
  name_blocks(FusionKind::kTransformerBlock, "transformer block");
  if (!found.left.empty()) found.report += cat("; ", left_text(found.left));
}

} // namespace temper::graph
