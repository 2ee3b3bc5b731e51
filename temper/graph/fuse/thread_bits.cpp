#include "temper/graph/fuse/thread_bits.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "temper/base/text.h"
#include "temper/graph/fuse/graph_view.h"
#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {
namespace {

// Each result depends on one number of each input, and each gradient likewise;
// and one rounding makes it. Functions such as exp do not belong here: LibTorch
// has a vector's and a single number's version of them, and which one an
// element gets depends on where a thread's share ends.
constexpr std::string_view kElementwise[] = {
    "abs",
    "clamp",
    "clamp_max",
    "clamp_min",
    "dropout",
    "feature_dropout",
    "hardtanh",
    "leaky_relu",
    "neg",
    "relu",
    "relu6",
    "sqrt"};

// The same numbers elsewhere; their gradients are put back where they were.
constexpr std::string_view kMoved[] = {"_to_copy",   "alias",
                                       "cat",        "chunk",
                                       "clone",      "constant_pad_nd",
                                       "contiguous", "detach",
                                       "flatten",    "lift_fresh_copy",
                                       "movedim",    "narrow",
                                       "permute",    "reshape",
                                       "select",     "slice",
                                       "split",      "split_with_sizes",
                                       "squeeze",    "stack",
                                       "t",          "to",
                                       "transpose",  "unbind",
                                       "unflatten",  "unsqueeze",
                                       "view",       "_unsafe_view"};

// Cells are added up one by one, and one thread has all cells of an image or
// of a channel. The gradient of embeddings is one thread's for each row.
constexpr std::string_view kOneThreadEach[] = {
    "avg_pool2d",
    "adaptive_avg_pool2d",
    "embedding",
    "max_pool2d"};

constexpr std::string_view kBroadcasting[] =
    {"add", "div", "mul", "rsub", "sub"};

// Made of nothing that is trained.
constexpr std::string_view kConstant[] =
    {"arange", "full", "ones", "scalar_tensor", "zeros"};

template <std::size_t kCount>
bool is_among(
    const std::string_view (&names)[kCount],
    const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class ThreadBits {
 public:
  explicit ThreadBits(const Graph& graph) : view_(graph) {
    for (const Input& input : graph.inputs)
      if (input.kind == InputKind::kBuffer ||
          input.kind == InputKind::kConstant)
        untrained_.insert(input.value);
  }

  bool depends(std::size_t index) const {
    const Node& node = view_.node(index);
    if (node.outputs.empty()) return false; // it checks something
    const Operator* page = find_operator(node);
    if (page != nullptr && (page->of_numbers || page->only_checks))
      return false;
    const std::string name = view_.name(index);
    if (is_among(kElementwise, name) || is_among(kMoved, name) ||
        is_among(kConstant, name))
      return false;
    if (is_among(kBroadcasting, name)) return spreads(node);
    if (is_among(kOneThreadEach, name)) return averages_all(node, name);
    return true;
  }

 private:
  // The gradient of what is spread over a larger tensor is a sum.
  bool spreads(const Node& node) const {
    const NodeArguments arguments(node);
    if (arguments.given("alpha")) return true; // two roundings, or one
    const auto& tensors = view_.graph().tensors;
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

  // LibTorch computes such a pooling as a mean.
  static bool averages_all(const Node& node, const std::string& name) {
    if (name != "adaptive_avg_pool2d") return false;
    const Ints sizes =
        NodeArguments(node).repeated("output_size", 2, Ints{1, 1});
    return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
      return size == 1;
    });
  }

  GraphView view_;
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

std::string user_name(const Node& node) {
  const std::string op(op_name(node.op).name);
  return node.module.empty() ? op : cat(node.module, " (", op, ")");
}

} // namespace temper::graph
