#include "temper/graph/infer/infer.h"

#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/op/node_shapes.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {
namespace {

Shape declared_shape(const TensorMeta& meta, const Symbols& symbols) {
  Shape shape{meta.dtype, {}};
  for (const auto& size : meta.sizes)
    shape.sizes.push_back(evaluate(size, symbols));
  return shape;
}

void take_declared(
    const Graph& graph,
    const std::string& value,
    const Symbols& symbols,
    Inferred& known) {
  if (const auto tensor = graph.tensors.find(value);
      tensor != graph.tensors.end())
    known.tensors[value] = declared_shape(tensor->second, symbols);
  else if (const auto number = graph.numbers.find(value);
           number != graph.numbers.end())
    known.numbers[value] = evaluate(number->second, symbols);
  else
    throw Error(cat("[graph] the graph says no shape of ", value, "."));
}

bool is_whole(const NumberName& number) {
  return number.kind == NumberKind::kInt;
}

void take_all_declared(
    const Graph& graph,
    const Node& node,
    const Symbols& symbols,
    Inferred& known) {
  for (const auto& output : node.outputs) {
    const auto* number = std::get_if<NumberName>(&output);
    if (number != nullptr && is_whole(*number))
      take_declared(graph, number->name, symbols, known);
    for (const auto& made : tensors_in(output))
      take_declared(graph, made, symbols, known);
  }
}

// Floats and truths that a graph computes are nobody's size: they have no
// rule, and neither has what is computed from them.
bool has_whole_numbers(const Node& node, const Inferred& known) {
  for (const auto& input : node.inputs)
    if (const auto* number = std::get_if<NumberName>(&input.value))
      if (known.numbers.count(number->name) == 0) return false;
  for (const auto& output : node.outputs)
    if (const auto* number = std::get_if<NumberName>(&output))
      if (!is_whole(*number)) return false;
  return true;
}

const TensorMeta* first_user_tensor(const Graph& graph) {
  for (const auto& input : graph.inputs) {
    if (input.kind != InputKind::kUser) continue;
    const auto found = graph.tensors.find(input.value);
    if (found != graph.tensors.end()) return &found->second;
  }
  return nullptr;
}

// The symbol's value for which the size comes out as `wanted`; the size is the
// symbol itself, or a multiple of it and something.
std::int64_t
solve(const Size& size, const std::string& symbol, std::int64_t wanted) {
  const std::int64_t at_1 = evaluate(size, {{symbol, 1}});
  const std::int64_t scale = evaluate(size, {{symbol, 2}}) - at_1;
  const std::int64_t rest = wanted - (at_1 - scale);
  if (scale <= 0 || rest % scale != 0 || rest / scale < 1)
    throw Error(
        cat("[graph] a batch of ",
            wanted,
            " does not fit the model: its batch is ",
            size_text(size),
            "."),
        "Choose another batch.");
  return rest / scale;
}

} // namespace

bool infer_node(const Node& node, Inferred& known) {
  const Operator* page = find_operator(node);
  if (page == nullptr || page->shape == nullptr) return false;
  if (page->of_numbers && !has_whole_numbers(node, known)) return false;
  NodeShapes shapes(node, known);
  page->shape(shapes);
  return true;
}

Inferred infer_by_rules(const Graph& graph, const Symbols& symbols) {
  Inferred known;
  for (const auto& input : graph.inputs)
    take_declared(graph, input.value, symbols, known);
  for (const auto& node : graph.nodes)
    if (!infer_node(node, known))
      take_all_declared(graph, node, symbols, known);
  return known;
}

Inferred infer(const Graph& graph, const Symbols& symbols) {
  Inferred known;
  for (const auto& input : graph.inputs)
    take_declared(graph, input.value, symbols, known);
  for (const auto& node : graph.nodes) {
    // The rule is asked where the file says nothing that can be computed.
    try {
      take_all_declared(graph, node, symbols, known);
    } catch (const Error&) {
      if (!infer_node(node, known)) throw;
    }
  }
  return known;
}

std::string batch_symbol(const Graph& graph) {
  const TensorMeta* input = first_user_tensor(graph);
  if (input == nullptr || input->sizes.empty()) return "";
  const auto symbols = symbols_of(input->sizes.front());
  return symbols.empty() ? "" : symbols.front();
}

Symbols bind_batch(const Graph& graph, std::int64_t batch) {
  if (batch < 1)
    throw Error(
        cat("[graph] a batch of ", batch, " is no batch."),
        "Choose 1 or more.");
  Symbols bound;
  // An example is what the exporter saw; without one, the least allowed.
  for (const auto& [symbol, range] : graph.symbols)
    bound[symbol] = range.low.value_or(1);
  std::set<std::string> seen;
  for (const auto& [name, meta] : graph.tensors)
    for (const auto& size : meta.sizes) {
      const auto symbols = symbols_of(size);
      if (symbols.size() != 1 || seen.count(symbols[0]) > 0) continue;
      // Only the symbol itself gives every number back.
      if (evaluate(size, {{symbols[0], 977}}) != 977) continue;
      bound[symbols[0]] = size.value;
      seen.insert(symbols[0]);
    }
  const std::string symbol = batch_symbol(graph);
  if (!symbol.empty())
    bound[symbol] =
        solve(first_user_tensor(graph)->sizes.front(), symbol, batch);
  return bound;
}

} // namespace temper::graph
