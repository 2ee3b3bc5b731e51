// Train or eval is written into the arguments of a few operators. Most carry a
// flag beside what it needs (dropout its probability), so that the way there
// and back loses nothing. Two do not, and the report says when they matter:
// attention's dropout_p and stochastic depth lose their probability on the way
// to eval, and an eval export never had it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/norm_mode.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

// Null for a node without modes. One that has no running statistics has only
// the mode of the batch.
const ModeFlag* flag_of(const Node& node) {
  const Operator* page = find_operator(node);
  const ModeFlag* flag = page == nullptr ? nullptr : page->mode;
  if (flag == nullptr || flag->needs == nullptr) return flag;
  return NodeArguments(node).tensor_name(flag->needs).empty() ? nullptr : flag;
}

// True when the node was in the other mode.
bool set_flag(Graph& graph, Node& node, const ModeFlag& flag, bool training) {
  if (NodeArguments(node).flag(flag.argument, false) == training) return false;
  if (is_batch_norm(node))
    set_norm_mode(graph, node, training);
  else if (flag.off_by_default && !training)
    erase_argument(node, flag.argument);
  else
    set_argument(node, flag.argument, training, flag.after);
  return true;
}

bool is_attention(const Node& node) {
  const Operator* page = find_operator(node);
  return page != nullptr && page->layer == Layer::kAttention;
}

// Stochastic depth draws a keep-or-drop factor per sample and divides it by
// the chance to keep: bernoulli_(noise, 0.9), div_(noise, 0.9).
int still_stochastic_depth(Graph& graph) {
  const AliasMap memory(graph);
  int stilled = 0;
  for (Node& node : graph.nodes) {
    if (op_name(node.op).spelled != "bernoulli_") continue;
    const double keep = NodeArguments(node).real("p", 0.5);
    const auto stack = node.metadata.find("nn_module_stack");
    bool recognised = stack != node.metadata.end() &&
        (contains(stack->second, "StochasticDepth") ||
         contains(stack->second, "DropPath"));
    const std::string noise = memory.owner(NodeArguments(node).subject());
    for (Node& other : graph.nodes) {
      if (op_name(other.op).spelled != "div_" ||
          memory.owner(NodeArguments(other).subject()) != noise ||
          std::fabs(NodeArguments(other).real("other", -1) - keep) > 1e-9)
        continue;
      set_argument(other, "other", 1.0, "self");
      recognised = true;
    }
    if (!recognised) continue;
    node.op = "aten.fill_.Scalar";
    erase_argument(node, "p");
    erase_argument(node, "generator");
    set_argument(node, "value", 1.0, "self");
    ++stilled;
  }
  return stilled;
}

void refuse_fused_encoder(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const std::string_view op = op_name(node.op).name;
    if (op != "_transformer_encoder_layer_fwd" &&
        op != "_native_multi_head_attention")
      continue;
    throw Error(
        cat("[graph] ",
            describe(node),
            " cannot be trained: it is the fused form that PyTorch puts into "
            "an eval export."),
        "Call model.train() before torch.export.export.");
  }
}

} // namespace

Passed switch_mode(const Program& program, bool training) {
  if (training) refuse_fused_encoder(program.graph);
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  std::map<std::string, int> switched;
  std::set<std::string> norms; // results of those that changed their mode
  int attentions = 0;
  for (Node& node : graph.nodes) {
    if (is_attention(node)) {
      const bool drops = NodeArguments(node).real("dropout_p", 0) > 0;
      if (drops != training) ++attentions;
      if (drops && !training) set_argument(node, "dropout_p", 0.0, "");
    }
    const ModeFlag* flag = flag_of(node);
    if (flag == nullptr || !set_flag(graph, node, *flag, training)) continue;
    ++switched[flag->noun];
    if (is_batch_norm(node)) norms.insert(values_made(node).front());
  }
  const int counters =
      training ? add_counters(graph, norms) : remove_counters(graph);
  const int depths = training ? 0 : still_stochastic_depth(graph);

  std::vector<std::string> parts;
  for (const auto& [noun, count] : switched)
    parts.push_back(plural(count, noun));
  if (counters > 0)
    parts.push_back(cat(
        plural(counters, "batch counter"), training ? " added" : " removed"));
  if (depths > 0)
    parts.push_back(
        cat(plural(depths, "stochastic depth"), " (cannot be switched back)"));
  if (!training && attentions > 0)
    parts.push_back(cat(
        plural(attentions, "attention dropout"), " (cannot be switched back)"));
  const char* mode = training ? "training" : "eval";
  passed.report = parts.empty()
      ? cat("nothing differs in ", mode, " mode")
      : cat("switched to ", mode, ": ", join(parts, ", "));
  if (training && attentions > 0 && !switched.empty())
    passed.report +=
        cat("; ",
            plural(attentions, "attention"),
            " without dropout, whose probability an eval export does not keep");
  return passed;
}

} // namespace temper::graph
