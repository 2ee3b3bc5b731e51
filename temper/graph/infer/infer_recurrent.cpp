// LSTM, GRU and plain recurrent layers over padded sequences.
#include "temper/base/text.h"
#include "temper/graph/infer/infer_rules.h"
#include "temper/graph/ir/saturating.h"

namespace temper::graph {
namespace {

// The sequence's output and the last state; `state` is one of the hx.
Shape sequence(const NodeShapes& node, const Shape& state, Shape& last) {
  const Shape& input = node.tensor("input");
  const auto params = node.tensors("params");
  const bool both_ways = node.flag("bidirectional", false);
  const auto layers = node.integer("num_layers", 1);
  const std::int64_t ways = both_ways ? 2 : 1;
  node.require(
      input.sizes.size() >= 2 && !params.empty() &&
          params[0].sizes.size() == 2 &&
          params[0].sizes[1] == input.sizes.back(),
      cat("its input ", sizes_text(input.sizes), " does not fit its weights"));
  node.require(
      state.sizes.size() == input.sizes.size() && layers >= 1 &&
          layers <= INT16_MAX && state.sizes[0] == layers * ways,
      cat("its state is ", sizes_text(state.sizes)));
  last = state;
  Shape output = input;
  // A projection makes the state narrower than the cell: the state decides.
  output.sizes.back() = times(state.sizes.back(), ways);
  return output;
}

void lstm(NodeShapes& node) {
  const auto states = node.tensors("hx");
  node.require(states.size() == 2, "it needs two states");
  Shape last;
  const Shape output = sequence(node, states[0], last);
  node.give_all({output, last, states[1]});
}

void recurrent(NodeShapes& node) {
  Shape last;
  const Shape output = sequence(node, node.tensor("hx"), last);
  node.give_all({output, last});
}

} // namespace

const ShapeRules& recurrent_rules() {
  static const ShapeRules rules{
      {"lstm", lstm},
      {"gru", recurrent},
      {"rnn_tanh", recurrent},
      {"rnn_relu", recurrent},
  };
  return rules;
}

} // namespace temper::graph
