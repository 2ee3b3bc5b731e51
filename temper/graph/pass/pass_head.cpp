#include <algorithm>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/build/fill.h"
#include "temper/graph/ir/elements.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/head_shapes.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pass/resize.h"

namespace temper::graph {
namespace {

constexpr std::int64_t kMostClasses = 10'000'000;

[[noreturn]] void refuse_head(const std::string& why) {
  throw Error(
      cat("[graph] cannot replace the head: ", why, "."),
      "Build the model for that number of classes, or export it without the "
      "layers after its last linear layer.");
}

bool is_pointwise(const Graph& graph, const Node& node) {
  const std::string_view op = op_name(node.op).name;
  if (op != "conv2d" && op != "conv1d" && op != "convolution") return false;
  if (NodeArguments(node).flag("transposed", false) ||
      NodeArguments(node).real("groups", 1) != 1)
    return false;
  const Sizes& sizes =
      graph.meta(NodeArguments(node).tensor_name("weight")).sizes;
  return std::all_of(sizes.begin() + 2, sizes.end(), [](const Size& size) {
    return size.value == 1;
  });
}

// From an output back along what each node works on, past all that learns
// nothing, to the layer that decides. Null when something else comes first.
const Node* head_of(const Graph& graph, const std::string& output) {
  for (const Node* node = maker_of(graph, output); node != nullptr;
       node = maker_of(graph, NodeArguments(*node).subject())) {
    if (op_name(node->op).name == "linear" || is_pointwise(graph, *node))
      return node;
    int computed = 0;
    for (const std::string& value : values_read(*node)) {
      const Input* input = find_input(graph, value);
      if (input != nullptr && input->kind == InputKind::kParameter)
        return nullptr;
      if (input == nullptr && graph.tensors.count(value) > 0) ++computed;
    }
    if (computed != 1) return nullptr; // ways meet here
  }
  return nullptr;
}

const Input& own_parameter(
    const Program& program,
    const Node& head,
    const std::string& value) {
  const Graph& graph = program.graph;
  const Input* input = find_input(graph, value);
  if (input == nullptr || program.weights.count(input->target) == 0)
    refuse_head(
        cat("the weights of ", describe(head), " are computed, not stored"));
  for (const Node& node : graph.nodes) {
    const std::vector<std::string> read = values_read(node);
    const auto times = std::count(read.begin(), read.end(), value);
    if (times > (&node == &head ? 1 : 0))
      refuse_head(
          cat(input->target, " is tied: ", describe(node), " reads it too"));
  }
  const auto& bytes = program.weights.at(input->target).bytes;
  for (const auto& [target, tensor] : program.weights)
    if (target != input->target && bytes != nullptr && tensor.bytes == bytes)
      refuse_head(cat(input->target, " is tied with ", target));
  return *input;
}

// Gives weight and bias the values that nn.Linear and nn.Conv2d begin with.
void renew(
    Program& program,
    const std::string& value,
    std::int64_t classes,
    const Fill& fill,
    std::uint64_t seed) {
  Input& input = *find_input(program.graph, value);
  TensorData& tensor = program.weights.at(input.target);
  std::vector<std::int64_t> sizes = tensor.sizes;
  sizes.at(0) = classes;
  const bool narrow = bytes_of(tensor.dtype) < 4;
  const TensorData drawn = draw(
      fill, narrow ? DType::kFloat32 : tensor.dtype, sizes, seed, input.target);
  tensor = narrow ? tensor_of(tensor.dtype, sizes, elements_of(drawn)) : drawn;
  input.trainable = input.kind == InputKind::kParameter;
  TensorMeta& meta = program.graph.tensors.at(value);
  meta.sizes.at(0) = classes;
  meta.strides = dense_strides(meta.sizes, {});
  meta.requires_grad = input.trainable;
}

std::string replace(
    Program& program,
    const std::string& output,
    std::int64_t classes,
    std::uint64_t seed) {
  const Node* found = head_of(program.graph, output);
  if (found == nullptr)
    refuse_head(
        cat("the last layer before ",
            output,
            " is neither linear nor a 1x1 convolution"));
  const Node head = *found;
  const std::string weight = NodeArguments(head).tensor_name("weight");
  const std::string bias = NodeArguments(head).tensor_name("bias");
  const Input weight_input = own_parameter(program, *found, weight);
  if (!bias.empty()) own_parameter(program, *found, bias);
  const std::vector<std::int64_t> sizes =
      program.weights.at(weight_input.target).sizes;
  const std::int64_t before = sizes.at(0);
  if (element_count(sizes) < 1)
    refuse_head(cat(weight_input.target, " is empty"));
  const Fill fill = uniform_fan_in(sizes);

  const std::string result = values_made(head).front();
  const std::size_t rank = program.graph.meta(result).sizes.size();
  const std::size_t dim =
      op_name(head.op).name == "linear" ? rank - 1 : rank - sizes.size() + 1;
  follow_classes(program.graph, result, dim, before, classes);
  renew(program, weight, classes, fill, seed);
  if (!bias.empty()) renew(program, bias, classes, fill, seed);
  return cat(
      parent_path(weight_input.target),
      " (",
      count_text(fan_in(sizes)),
      " to ",
      count_text(classes),
      " classes, was ",
      count_text(before),
      ")");
}

} // namespace

Passed
replace_head(const Program& program, std::int64_t classes, std::uint64_t seed) {
  if (classes < 1 || classes > kMostClasses)
    throw Error(
        cat("[graph] cannot make a head for ", classes, " classes."),
        cat("Ask for 1 to ", count_text(kMostClasses), "."));
  Passed passed{program, ""};
  std::vector<std::string> outputs;
  for (const Output& output : program.graph.outputs)
    if (output.kind == OutputKind::kUser)
      for (const std::string& value : tensors_in(output.value))
        outputs.push_back(value);
  if (outputs.empty()) refuse_head("the model has no output");

  // Further outputs are auxiliary classifiers when they have as many classes.
  std::vector<std::string> replaced;
  std::set<std::string> heads;
  std::int64_t before = 0;
  for (const std::string& output : outputs) {
    const Node* head = head_of(program.graph, output);
    const bool first = output == outputs.front();
    if (!first && head == nullptr) continue;
    if (head != nullptr) {
      const std::string weight = NodeArguments(*head).tensor_name("weight");
      const std::int64_t rows = program.graph.meta(weight).sizes.at(0).value;
      if (first) before = rows;
      if (rows != before || !heads.insert(weight).second) continue;
    }
    replaced.push_back(replace(passed.program, output, classes, seed));
  }
  passed.report = cat("replaced the head ", join(replaced, ", "));
  return passed;
}

} // namespace temper::graph
