// The part of the builder that every layer needs: names, inputs, shapes. Each
// node's shapes are inferred for two batches; a size that differs is a formula
// of the batch, and two points give a line's slope and offset.
#include "temper/graph/build/builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/op/effects.h"

namespace temper::graph {
namespace {

// The name torch.export gives the batch of an input called x.
constexpr const char* kBatchSymbol = "s77";
constexpr std::int64_t kExampleBatch = 2;
constexpr std::int64_t kOtherBatch = 3;

// module(x): a tuple of one tensor and no keywords in, one tensor out.
constexpr const char* kOneTensorIn =
    R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)"
    R"({"type": "builtins.tuple", "context": "null", "children_spec": [)"
    R"({"type": null, "context": null, "children_spec": []}]}, )"
    R"({"type": "builtins.dict", "context": "[]", "children_spec": []}]}])";
constexpr const char* kOneTensorOut =
    R"([1, {"type": null, "context": null, "children_spec": []}])";

Size size_between(std::int64_t example, std::int64_t other) {
  const std::int64_t scale = (other - example) / (kOtherBatch - kExampleBatch);
  return linear_size(
      kBatchSymbol, kExampleBatch, scale, example - scale * kExampleBatch);
}

Sizes sizes_between(const Ints& example, const Ints& other) {
  check(example.size() == other.size(), "the batch changes no rank");
  Sizes sizes;
  for (std::size_t i = 0; i < example.size(); ++i)
    sizes.push_back(size_between(example[i], other[i]));
  return sizes;
}

// Attention leaves its result as its projections lay: heads side by side.
Ints strides_of_new(const Node& node, const Ints& made) {
  if (find_operator(node)->layer != Layer::kAttention)
    return strides_in_order(made);
  check(made.size() == 4, "attention has batch, heads, places and features");
  const std::int64_t row = made[1] * made[3];
  return {made[2] * row, made[3], row, 1};
}

std::string underscored(std::string target) {
  std::replace(target.begin(), target.end(), '.', '_');
  return target;
}

} // namespace

Builder::Builder(std::string producer, LayerFills fills) : fills_(fills) {
  made_.graph.producer = std::move(producer);
  made_.graph.symbols[kBatchSymbol] = {1, std::nullopt};
  worlds_[0].batch = kExampleBatch;
  worlds_[1].batch = kOtherBatch;
}

// conv2d, conv2d_1, conv2d_2: as torch.fx counts.
std::string Builder::fresh_name(const std::string& wanted) {
  std::string name = wanted;
  while (!names_.insert(name).second)
    name = temper::cat(wanted, "_", ++last_number_[wanted]);
  return name;
}

// "aten.conv2d.default" makes conv2d; "aten.sym_size.int" makes sym_size_int.
std::string Builder::fresh_name_for(const char* op) {
  const std::vector<std::string> parts = split(op, '.');
  check(parts.size() == 3, "an operator has namespace, name and overload");
  return fresh_name(parts[1] == "sym_size" ? "sym_size_int" : parts[1]);
}

void Builder::describe(const std::string& name) {
  const Shape& example = worlds_[0].inferred.tensors.at(name);
  const Shape& other = worlds_[1].inferred.tensors.at(name);
  TensorMeta meta;
  meta.dtype = example.dtype;
  meta.sizes = sizes_between(example.sizes, other.sizes);
  meta.strides =
      sizes_between(worlds_[0].strides.at(name), worlds_[1].strides.at(name));
  made_.graph.tensors[name] = std::move(meta);
}

Value Builder::input(
    const std::string& name,
    DType dtype,
    const std::vector<std::int64_t>& sizes) {
  check(user_input_.empty(), "a built graph has one user input");
  user_input_ = fresh_name(name);
  for (World& world : worlds_) {
    Ints full{world.batch};
    full.insert(full.end(), sizes.begin(), sizes.end());
    world.strides[user_input_] = strides_in_order(full);
    world.inferred.tensors[user_input_] = {dtype, std::move(full)};
  }
  describe(user_input_);
  return {user_input_};
}

Value Builder::state(
    InputKind kind,
    const std::string& target,
    const Shape& shape) {
  const bool parameter = kind == InputKind::kParameter;
  const std::string name =
      fresh_name((parameter ? "p_" : "b_") + underscored(target));
  for (World& world : worlds_) {
    world.inferred.tensors[name] = shape;
    world.strides[name] = strides_in_order(shape.sizes);
  }
  describe(name);
  made_.graph.tensors[name].requires_grad = parameter;
  Input input;
  input.kind = kind;
  input.value = name;
  input.target = target;
  input.trainable = parameter;
  (parameter ? made_.graph.inputs : buffers_).push_back(std::move(input));
  return {name};
}

Value Builder::parameter(
    const std::string& target,
    const std::vector<std::int64_t>& sizes,
    const Fill& fill) {
  check(
      made_.fills.emplace(target, fill).second,
      "parameters have names of their own");
  return state(InputKind::kParameter, target, {DType::kFloat32, sizes});
}

Value Builder::buffer(
    const std::string& target,
    const Shape& shape,
    const Fill& fill) {
  check(
      made_.fills.emplace(target, fill).second,
      "buffers have names of their own");
  return state(InputKind::kBuffer, target, shape);
}

Node& Builder::append(
    const std::string& path,
    const char* op,
    std::vector<NamedArgument> in,
    std::vector<Result> out) {
  Node made;
  made.op = op;
  made.inputs = std::move(in);
  made.outputs = std::move(out);
  made.module = path;
  return made_.graph.nodes.emplace_back(std::move(made));
}

// Learns what the node makes, in both worlds and in the graph's own words.
void Builder::learn(const Node& node) {
  const std::vector<std::string> made = tensors_in(node.outputs.at(0));
  for (World& world : worlds_) {
    check(infer_node(node, world.inferred), "every layer has a shape rule");
    const std::string base = values_read(node).at(0);
    const auto& shapes = world.inferred.tensors;
    for (const std::string& name : made) {
      const auto shared = shared_strides(
          NodeArguments(node, world.inferred),
          {shapes.at(base), world.strides.at(base), shapes.at(name)});
      world.strides[name] =
          shared ? *shared : strides_of_new(node, shapes.at(name).sizes);
    }
  }
  for (const std::string& name : made)
    describe(name);
}

Value Builder::node(
    const std::string& path,
    const char* op,
    std::vector<NamedArgument> in) {
  const std::string name = fresh_name_for(op);
  learn(append(path, op, std::move(in), {TensorName{name}}));
  return {name};
}

// Asked once, of the input, before anything that needs it.
NumberName Builder::batch() {
  if (batch_number_.empty()) {
    const char* op = "aten.sym_size.int";
    batch_number_ = fresh_name_for(op);
    const Node& made = append(
        "",
        op,
        {{"self", TensorName{user_input_}}, {"dim", std::int64_t{0}}},
        {NumberName{batch_number_}});
    for (World& world : worlds_)
      check(infer_node(made, world.inferred), "sym_size has a rule");
    made_.graph.numbers[batch_number_] =
        size_between(kExampleBatch, kOtherBatch);
  }
  return {batch_number_};
}

std::vector<Value> Builder::unbind(const std::string& path, const Value& x) {
  TensorNames names;
  std::vector<Value> parts;
  const Ints sizes = worlds_[0].inferred.tensors.at(x.name).sizes;
  for (std::int64_t i = 0; i < sizes.at(0); ++i) {
    parts.push_back({fresh_name("getitem")});
    names.push_back({parts.back().name});
  }
  learn(
      append(path, "aten.unbind.int", {{"self", TensorName{x.name}}}, {names}));
  return parts;
}

Value Builder::reshape(
    const std::string& path,
    const Value& x,
    const Ints& sizes) {
  std::vector<IntOrName> shape{batch()};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return node(
      path,
      "aten.reshape.default",
      {{"self", TensorName{x.name}}, {"shape", std::move(shape)}});
}

Value Builder::expand_batch(const std::string& path, const Value& x) {
  const Ints sizes = worlds_[0].inferred.tensors.at(x.name).sizes;
  std::vector<IntOrName> shape{batch()};
  shape.resize(sizes.size(), std::int64_t{-1});
  return node(
      path,
      "aten.expand.default",
      {{"self", TensorName{x.name}}, {"size", std::move(shape)}});
}

std::vector<std::int64_t> Builder::sizes(const Value& x) const {
  const Ints& all = worlds_[0].inferred.tensors.at(x.name).sizes;
  return {all.begin() + 1, all.end()};
}

Blueprint Builder::finish(const Value& output) {
  Graph& graph = made_.graph;
  std::move(buffers_.begin(), buffers_.end(), std::back_inserter(graph.inputs));
  Input user;
  user.value = user_input_;
  user.target = user_input_;
  graph.inputs.push_back(std::move(user));
  graph.outputs.push_back({OutputKind::kUser, TensorName{output.name}, ""});
  graph.calling = {kOneTensorIn, kOneTensorOut, {user_input_}};
  validate(graph);
  return std::move(made_);
}

} // namespace temper::graph
