#include "small_graphs.h"

#include <algorithm>

#include "temper/base/digest/hash.h"
#include "temper/base/random/philox.h"
#include "temper/graph/ir/op_name.h"

namespace temper::graph {

Program with_weights(const Graph& graph) {
  Program program;
  program.graph = graph;
  for (const Input& input : graph.inputs) {
    if (input.kind == InputKind::kUser) continue;
    const TensorMeta& meta = graph.meta(input.value);
    std::vector<std::int64_t> sizes;
    for (const Size& size : meta.sizes)
      sizes.push_back(size.value);
    if (!is_floating(meta.dtype)) {
      program.weights[input.target] = make_tensor(meta.dtype, sizes).data;
      continue;
    }
    const bool is_variance = input.target.find("var") != std::string::npos;
    RandomStream random(1, 0, hash64(input.target));
    std::vector<double> values(static_cast<std::size_t>(element_count(sizes)));
    for (double& value : values)
      value = is_variance ? random.uniform(0.5, 2) : random.uniform(-1, 1);
    program.weights[input.target] = tensor_of(meta.dtype, sizes, values);
  }
  validate(program);
  return program;
}

Program residual_net() {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 6, 6});
  x = b.conv2d(
      "stem.0", x, {.out = 4, .kernel = 3, .padding = 1, .bias = false});
  x = b.relu_("stem.2", b.batch_norm("stem.1", x));
  Value y = b.conv2d(
      "layer1.0.conv1",
      x,
      {.out = 6, .kernel = 3, .stride = 2, .padding = 1, .bias = false});
  y = b.relu_("layer1.0.relu", b.batch_norm("layer1.0.bn1", y));
  y = b.conv2d(
      "layer1.0.conv2", y, {.out = 6, .kernel = 3, .padding = 1, .groups = 6});
  y = b.batch_norm("layer1.0.bn2", y);
  Value z = b.conv2d(
      "layer1.0.downsample.0", x, {.out = 6, .stride = 2, .bias = false});
  z = b.batch_norm("layer1.0.downsample.1", z);
  x = b.relu_("layer1.0.relu", b.add_("layer1.0", y, z));
  x = b.flatten("", b.average_pool2d("avgpool", x), 1);
  x = b.linear("fc", b.dropout("drop", x, 0.2), {.out = 5});
  return with_weights(b.finish(x).graph);
}

Node simple_node(
    const std::string& op,
    std::vector<NamedArgument> inputs,
    const std::string& made,
    const std::string& module) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {TensorName{made}};
  node.module = module;
  return node;
}

TensorMeta shape(std::vector<std::int64_t> sizes) {
  TensorMeta meta;
  meta.strides.resize(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    meta.sizes.insert(meta.sizes.begin(), sizes[i]);
    meta.strides[i] = step;
    step *= sizes[i];
  }
  return meta;
}

Program by_hand(
    std::vector<Node> nodes,
    const std::string& output,
    std::vector<Input> inputs) {
  Graph graph;
  graph.inputs = std::move(inputs);
  graph.inputs.push_back({InputKind::kUser, "x", "x"});
  for (const Input& input : graph.inputs)
    graph.tensors[input.value] = shape({2, 3});
  for (const Node& node : nodes)
    for (const std::string& value : values_made(node))
      graph.tensors[value] = shape({2, 3});
  graph.nodes = std::move(nodes);
  graph.outputs = {{OutputKind::kUser, TensorName{output}, ""}};
  return with_weights(graph);
}

bool same_weights(const Weights& a, const Weights& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.sizes != tensor.sizes ||
        other->second.dtype != tensor.dtype ||
        !std::equal(
            tensor.bytes.get(),
            tensor.bytes.get() + tensor.byte_count,
            other->second.bytes.get()))
      return false;
  }
  return true;
}

bool same(const Program& a, const Program& b) {
  return a.graph == b.graph && same_weights(a.weights, b.weights);
}

Program deep_copy(const Program& program) {
  Program copy = program;
  for (auto& [name, tensor] : copy.weights) {
    NewTensor made = make_tensor(tensor.dtype, tensor.sizes);
    std::copy_n(tensor.bytes.get(), tensor.byte_count, made.bytes);
    tensor = made.data;
  }
  return copy;
}

Passed checked(
    const std::function<Passed(const Program&)>& pass,
    const Program& program) {
  const Program before = deep_copy(program);
  Passed passed = pass(program);
  EXPECT_TRUE(same(before, program)) << "the pass changed its argument";
  EXPECT_NO_THROW(validate(passed.program));
  EXPECT_FALSE(passed.report.empty());
  EXPECT_EQ(passed.report.find('\n'), std::string::npos);
  EXPECT_EQ(passed.program.weights.size(), [&] {
    std::size_t count = 0;
    for (const Input& input : passed.program.graph.inputs)
      if (input.kind != InputKind::kUser) ++count;
    return count;
  }()) << "weights that no input names";
  return passed;
}

std::vector<const Node*> nodes_of(const Graph& graph, const std::string& op) {
  std::vector<const Node*> found;
  for (const Node& node : graph.nodes)
    if (op_name(node.op).spelled == op) found.push_back(&node);
  return found;
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "no error";
}

} // namespace temper::graph
