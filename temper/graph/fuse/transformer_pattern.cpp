#include "temper/graph/fuse/transformer_pattern.h"

#include <algorithm>

#include "temper/graph/fuse/head_layout.h"
#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {
namespace {

// Positions in the inputs of a linear layer; a LayerNorm has the first three.
constexpr std::size_t kRows = 0;
constexpr std::size_t kWeight = 1;
constexpr std::size_t kBias = 2;
constexpr std::size_t kSum = 3;

class Search {
 public:
  Search(const GraphView& view, const std::vector<Fusion>& layers)
      : view_(view), layers_(layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      by_output_[layers[i].output] = i;
      by_input_.insert({layers[i].inputs[kRows], i});
    }
  }

  // The block around an attention.
  std::optional<TransformerBlock> around(std::size_t attention) const {
    TransformerBlock block;
    std::vector<std::size_t> views;
    const auto qkv = before(attention, views);
    if (!qkv) return std::nullopt;
    const auto norm1 =
        made_by(layers_[*qkv].inputs[kRows], FusionKind::kLayerNorm);
    if (!norm1) return std::nullopt;
    const std::string& x = layers_[*norm1].inputs[kRows];
    const auto proj = after(attention, views);
    if (!proj || layers_[*proj].inputs[kSum] != x) return std::nullopt;
    const std::string& middle = layers_[*proj].output;
    const auto norm2 = reading(middle, FusionKind::kLayerNorm);
    if (!norm2) return std::nullopt;
    const auto fc1 = reading(layers_[*norm2].output, FusionKind::kLinear);
    if (!fc1 || !layers_[*fc1].inputs[kSum].empty()) return std::nullopt;
    const auto fc2 = reading(layers_[*fc1].output, FusionKind::kLinear);
    if (!fc2 || layers_[*fc2].act != FusedActivation::kNone ||
        layers_[*fc2].inputs[kSum] != middle)
      return std::nullopt;
    block.parts = {*norm1, *qkv, attention, *proj, *norm2, *fc1, *fc2};
    if (!put_together(block, views, attention)) return std::nullopt;
    return block;
  }

 private:
  std::optional<std::size_t> made_by(const std::string& value, FusionKind kind)
      const {
    const auto found = by_output_.find(value);
    if (found == by_output_.end() || layers_[found->second].kind != kind)
      return std::nullopt;
    return found->second;
  }

  // The only layer of this kind that takes the value in.
  std::optional<std::size_t> reading(const std::string& value, FusionKind kind)
      const {
    std::optional<std::size_t> found;
    const auto [begin, end] = by_input_.equal_range(value);
    for (auto each = begin; each != end; ++each) {
      if (layers_[each->second].kind != kind) continue;
      if (found) return std::nullopt;
      found = each->second;
    }
    return found;
  }

  bool is_plain_linear(const Fusion& layer) const {
    return layer.kind == FusionKind::kLinear &&
        layer.act == FusedActivation::kNone;
  }

  // The linear layer of whose result queries, keys and values are views.
  std::optional<std::size_t> before(
      std::size_t attention,
      std::vector<std::size_t>& views) const {
    const Fusion& heads = layers_[attention];
    std::string root = heads.inputs.front();
    auto qkv = made_by(root, FusionKind::kLinear);
    while (!qkv) {
      const auto maker = view_.maker(root);
      if (!maker) return std::nullopt;
      root = NodeArguments(view_.node(*maker)).subject();
      if (root.empty()) return std::nullopt;
      qkv = made_by(root, FusionKind::kLinear);
    }
    const Fusion& linear = layers_[*qkv];
    if (!is_plain_linear(linear) || !linear.inputs[kSum].empty() ||
        view_.rank(root) != 3)
      return std::nullopt;
    const Sizes& rows = view_.graph().meta(root).sizes;
    const Sizes& first = view_.graph().meta(heads.inputs.front()).sizes;
    if (!rows[2].fixed() || !first[1].fixed() || !first[3].fixed())
      return std::nullopt;
    HeadLayouts layouts(
        view_, root, token_rows(rows[0], rows[1], rows[2].value));
    for (std::size_t i = linear.nodes.back() + 1; i < heads.nodes.front(); ++i)
      layouts.follow(i);
    const std::int64_t features = first[1].value * first[3].value;
    if (3 * features != rows[2].value) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i) {
      const HeadLayout* found = layouts.find(heads.inputs[i]);
      if (found == nullptr ||
          *found !=
              heads_of_tokens(
                  rows[0],
                  rows[1],
                  first[1].value,
                  first[3].value,
                  static_cast<std::int64_t>(i) * features))
        return std::nullopt;
    }
    views.insert(views.end(), layouts.nodes().begin(), layouts.nodes().end());
    return qkv;
  }

  // The linear layer that takes the heads side by side.
  std::optional<std::size_t> after(
      std::size_t attention,
      std::vector<std::size_t>& views) const {
    const Fusion& heads = layers_[attention];
    const Sizes& sizes = view_.graph().meta(heads.output).sizes;
    if (sizes.size() != 4 || !sizes[1].fixed() || !sizes[3].fixed())
      return std::nullopt;
    HeadLayouts layouts(
        view_,
        heads.output,
        heads_of_tokens(sizes[0], sizes[2], sizes[1].value, sizes[3].value, 0));
    const HeadLayout wanted =
        token_rows(sizes[0], sizes[2], sizes[1].value * sizes[3].value);
    for (std::size_t i = heads.nodes.back() + 1; i < view_.graph().nodes.size();
         ++i) {
      if (!layouts.follow(i)) continue;
      const std::string value = view_.result(i);
      const HeadLayout* found = layouts.find(value);
      if (found == nullptr || *found != wanted) continue;
      const auto proj = reading(value, FusionKind::kLinear);
      if (!proj) continue;
      if (!is_plain_linear(layers_[*proj])) return std::nullopt;
      views.insert(views.end(), layouts.nodes().begin(), layouts.nodes().end());
      return proj;
    }
    return std::nullopt;
  }

  bool put_together(
      TransformerBlock& block,
      const std::vector<std::size_t>& views,
      std::size_t attention) const {
    Fusion& whole = block.fusion;
    whole.kind = FusionKind::kTransformerBlock;
    const Fusion& norm1 = layers_[block.parts.front()];
    const Fusion& heads = layers_[attention];
    whole.inputs = {norm1.inputs[kRows]};
    whole.nodes = views;
    for (const std::size_t part : block.parts) {
      const Fusion& layer = layers_[part];
      whole.nodes.insert(
          whole.nodes.end(), layer.nodes.begin(), layer.nodes.end());
      whole.parts.push_back(layer);
      if (part == attention) continue;
      whole.inputs.push_back(layer.inputs[kWeight]);
      whole.inputs.push_back(layer.inputs[kBias]);
    }
    std::sort(whole.nodes.begin(), whole.nodes.end());
    const Fusion& fc2 = layers_[block.parts.back()];
    whole.output = fc2.output;
    whole.act = layers_[block.parts[5]].act;
    whole.eps = norm1.eps;
    whole.second_eps = layers_[block.parts[4]].eps;
    whole.causal = heads.causal;
    whole.scale = heads.scale;
    whole.heads = view_.graph().meta(heads.inputs.front()).sizes[1].value;
    return view_.rank(whole.inputs.front()) == 3 && view_.is_closed(whole) &&
        view_.can_wait(whole);
  }

  const GraphView& view_;
  const std::vector<Fusion>& layers_;
  std::map<std::string, std::size_t> by_output_;
  std::multimap<std::string, std::size_t> by_input_;
};

} // namespace

std::vector<TransformerBlock> transformer_blocks(
    const GraphView& view,
    const std::vector<Fusion>& layers) {
  const Search search(view, layers);
  std::vector<TransformerBlock> found;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].kind != FusionKind::kAttention) continue;
    auto block = search.around(i);
    if (block) found.push_back(std::move(*block));
  }
  return found;
}

} // namespace temper::graph
