#include "temper/graph/fuse/thread_bits.h"

#include <algorithm>
#include <set>

#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {
namespace {

class ThreadBits {
 public:
  explicit ThreadBits(const Graph& graph) : graph_(graph) {
    for (const Input& input : graph.inputs)
      if (input.kind == InputKind::kBuffer ||
          input.kind == InputKind::kConstant)
        untrained_.insert(input.value);
  }

  bool depends(std::size_t index) const {
    const Node& node = graph_.nodes[index];
    if (node.outputs.empty()) return false; // it checks something
    const Operator* page = find_operator(node);
    if (page == nullptr) return true;
    if (page->of_numbers || page->only_checks) return false;
    switch (page->threads) {
      case Threads::kMatter:
        return true;
      case Threads::kDoNotMatter:
        return false;
      case Threads::kMatterWhereSpread:
        return spreads(node);
      case Threads::kMatterForOneCell:
        return makes_one_cell(node);
    }
    return true;
  }

 private:
  // The gradient of what is spread over a larger tensor is a sum.
  bool spreads(const Node& node) const {
    const NodeArguments arguments(node);
    if (arguments.given("alpha")) return true; // two roundings, or one
    const auto& tensors = graph_.tensors;
    const auto made = values_made(node);
    const auto result = made.empty() ? tensors.end() : tensors.find(made[0]);
    const auto is_spread = [&](const char* name) {
      const std::string value = arguments.tensor_name(name);
      if (value.empty() || untrained_.count(value) > 0) return false;
      const auto found = tensors.find(value);
      return found == tensors.end() || result == tensors.end() ||
          found->second.sizes != result->second.sizes;
    };
    return is_spread("self") || is_spread("other");
  }

  static bool makes_one_cell(const Node& node) {
    const Ints sizes =
        NodeArguments(node).repeated("output_size", 2, Ints{1, 1});
    return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
      return size == 1;
    });
  }

  const Graph& graph_;
  std::set<std::string> untrained_; // values
};

} // namespace

std::vector<std::size_t> thread_dependent_nodes(
    const Graph& graph,
    const Fusions& fusions) {
  std::set<std::size_t> ours(fusions.alone.begin(), fusions.alone.end());
  for (const Fusion& group : fusions.groups)
    ours.insert(group.nodes.begin(), group.nodes.end());
  const ThreadBits bits(graph);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (ours.count(i) == 0 && bits.depends(i)) found.push_back(i);
  return found;
}

std::string layer_name(const Node& node) {
  const std::string op(op_name(node.op).name);
  return node.module.empty() ? op : cat(node.module, " (", op, ")");
}

} // namespace temper::graph
