// LSTM, GRU and plain recurrent layers over padded sequences.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/op_rules.h"

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

// Every step keeps four gates or their like, the cell, its tanh and the state.
void save_recurrent(SavedContext& node) {
  const Shape& sequence = node.tensor("input");
  if (node.flag("batch_first", false))
    node.keep_bytes(bytes_of(sequence)); // turned around, in order
  else
    node.keep("input");
  const auto layers = node.integer("num_layers", 1);
  const std::int64_t output = bytes_of(node.result());
  constexpr std::int64_t kStatesAStep = 7;
  node.keep_bytes(times(times(output, kStatesAStep), layers));
  node.keep_bytes(times(output, layers - 1)); // what the next layer reads
}

// Every matrix once a step.
std::int64_t recurrent_macs(const NodeArguments& node, const Shape&) {
  const Ints& input = node.tensor("input").sizes;
  std::int64_t weights = 0;
  for (const auto& each : node.tensors("params"))
    if (each.sizes.size() == 2) weights = plus(weights, product_of(each.sizes));
  const std::int64_t features = std::max<std::int64_t>(input.back(), 1);
  return times(weights, product_of(input) / features);
}

bool drops_between_layers(const NodeArguments& node) {
  return node.flag("train", false) && node.real("dropout", 0) > 0;
}

constexpr ModeFlag kRecurrentMode{
    .argument = "train",
    .after = "dropout",
    .noun = "recurrent layer"};

Operator recurring(ShapeRule shape) {
  return {
      .shape = shape,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .saved = save_recurrent,
      .macs = recurrent_macs,
      .random = drops_between_layers,
      .mode = &kRecurrentMode};
}

} // namespace

const OperatorRows& recurrent_operators() {
  static const OperatorRows rows{
      {{"lstm"}, recurring(lstm)},
      {{"gru", "rnn_tanh", "rnn_relu"}, recurring(recurrent)},
  };
  return rows;
}

} // namespace temper::graph
