#include "temper/graph/cost/cost.h"

#include <algorithm>

#include "temper/graph/cost/saved.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {
namespace {

// Pooling and reductions look at each input.
std::int64_t elements_seen(const NodeArguments& node, const Shape& made) {
  std::int64_t most = product_of(made.sizes);
  for (const auto& input : node.node().inputs)
    if (const Shape* shape = node.shape_of(input.value))
      most = std::max(most, product_of(shape->sizes));
  return most;
}

} // namespace

Cost& Cost::operator+=(const Cost& other) {
  macs = plus(macs, other.macs);
  flops = plus(flops, other.flops);
  backward_flops = plus(backward_flops, other.backward_flops);
  bytes_read = plus(bytes_read, other.bytes_read);
  bytes_written = plus(bytes_written, other.bytes_written);
  return *this;
}

std::vector<Cost>
costs(const Graph& graph, const Inferred& known, const Symbols& symbols) {
  const auto with_gradient = values_with_gradient(graph, known);
  PlacedValues attention;
  attention.fused_attention = true;
  const StorageMap places = place(graph, known, symbols, attention);
  std::vector<Cost> all;
  for (const auto& node : graph.nodes) {
    Cost& cost = all.emplace_back();
    const NodeArguments arguments(node, known);
    std::vector<std::string> made;
    for (const auto& output : node.outputs)
      for (auto& value : tensors_in(output))
        made.push_back(std::move(value));
    const OpName op = op_name(node.op);
    const Operator* page = find_operator(op);
    const bool moves =
        op.in_place ||
        std::any_of(made.begin(), made.end(), [&](const auto& value) {
          return places.storages[places.at(value).storage].value == value;
        });
    if (made.empty() || !moves) continue;

    int gradients = 0;
    for (const auto& input : node.inputs)
      for (const auto& value : tensors_in(input.value)) {
        cost.bytes_read =
            plus(cost.bytes_read, bytes_of(known.tensors.at(value)));
        if (with_gradient.count(value) > 0) ++gradients;
      }
    for (const auto& value : made)
      cost.bytes_written =
          plus(cost.bytes_written, bytes_of(known.tensors.at(value)));
    const Shape& first = known.tensors.at(made.front());
    if (op.name == "embedding") // reads the rows it gives
      cost.bytes_read =
          plus(cost.bytes_written, bytes_of(arguments.tensor("indices")));
    if (page != nullptr && page->macs != nullptr) {
      cost.macs = page->macs(arguments, first);
      cost.flops = times(2, cost.macs);
      // Each factor that wants a gradient costs as much again; a bias is cheap.
      cost.backward_flops = times(cost.flops, std::min(gradients, 2));
    } else {
      cost.flops =
          times(elements_seen(arguments, first), page ? page->flops : 1);
      if (gradients > 0) cost.backward_flops = cost.flops;
    }
  }
  return all;
}

} // namespace temper::graph
