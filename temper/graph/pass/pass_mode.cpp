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
#include "temper/graph/ir/effects.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/norm_mode.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

struct Flag {
  const char* argument;
  const char* after; // the argument before it in the schema
  const char* noun; // for the report
};

const Flag* flag_of(const Node& node) {
  static const Flag norm{"training", "running_var", "BatchNorm"};
  static const Flag dropout{"train", "p", "dropout"};
  static const Flag recurrent{"train", "dropout", "recurrent layer"};
  static const Flag rrelu{"training", "upper", "rrelu"};
  static const Flag instance{"use_input_stats", "running_var", "InstanceNorm"};
  static const std::map<std::string_view, const Flag*> table{
      {"instance_norm", &instance},
      {"dropout", &dropout},
      {"dropout_", &dropout},
      {"feature_dropout", &dropout},
      {"feature_dropout_", &dropout},
      {"alpha_dropout", &dropout},
      {"alpha_dropout_", &dropout},
      {"feature_alpha_dropout", &dropout},
      {"feature_alpha_dropout_", &dropout},
      {"native_dropout", &dropout},
      {"lstm", &recurrent},
      {"gru", &recurrent},
      {"rnn_tanh", &recurrent},
      {"rnn_relu", &recurrent},
      {"rrelu", &rrelu},
      {"rrelu_", &rrelu},
  };
  if (is_batch_norm(node)) return &norm;
  const auto found = table.find(op_name(node.op).spelled);
  return found == table.end() ? nullptr : found->second;
}

// Without running statistics there is only one mode: that of the batch.
bool has_modes(const Node& node) {
  const bool normalises =
      is_batch_norm(node) || op_name(node.op).name == "instance_norm";
  return !normalises ||
      !NodeArguments(node).tensor_name("running_mean").empty();
}

// True when the node was in the other mode.
bool set_flag(Graph& graph, Node& node, const Flag& flag, bool training) {
  if (NodeArguments(node).flag(flag.argument, false) == training) return false;
  // rrelu alone has a default, and an export leaves defaults out.
  const bool is_default =
      !training && starts_with(op_name(node.op).name, "rrelu");
  if (is_batch_norm(node))
    set_norm_mode(graph, node, training);
  else if (is_default)
    erase_argument(node, flag.argument);
  else
    set_argument(node, flag.argument, training, flag.after);
  return true;
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
    if (contains(op_name(node.op).name, "scaled_dot_product")) {
      const bool drops = NodeArguments(node).real("dropout_p", 0) > 0;
      if (drops != training) ++attentions;
      if (drops && !training) set_argument(node, "dropout_p", 0.0, "");
    }
    const Flag* flag = flag_of(node);
    if (flag == nullptr || !has_modes(node) ||
        !set_flag(graph, node, *flag, training))
      continue;
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
