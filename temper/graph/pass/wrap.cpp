#include "temper/graph/pass/wrap.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/elements.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/resize.h"

namespace temper::graph {
namespace {

constexpr const char* kModule = "preprocessing";
constexpr int kContiguous = 1; // torch.export's code of that memory format

[[noreturn]] void refuse_to_wrap(const std::string& why) {
  throw Error(
      cat("[graph] preprocessing cannot go into this model: ", why, "."),
      "Export it without --with-preprocessing: the schema that comes along "
      "says how to feed it.");
}

// Appends nodes to a list, which is not yet part of the graph.
class Steps {
 public:
  Steps(Program& program, std::vector<Node>& nodes)
      : program_(program), nodes_(nodes) {}

  std::string add(
      const std::string& op,
      std::vector<NamedArgument> arguments,
      DType dtype,
      const Sizes& sizes,
      const Sizes& order = {}) {
    const std::string name = free_name(program_.graph, plain(op));
    Node node;
    node.op = op;
    node.inputs = std::move(arguments);
    node.outputs = {TensorName{name}};
    node.module = kModule;
    nodes_.push_back(std::move(node));
    TensorMeta meta;
    meta.dtype = dtype;
    meta.sizes = sizes;
    meta.strides = dense_strides(sizes, order);
    program_.graph.tensors[name] = std::move(meta);
    return name;
  }

  // A buffer with these values; the graph's value of it.
  std::string constant(
      const std::string& name,
      const std::vector<std::int64_t>& sizes,
      const std::vector<double>& values) {
    Graph& graph = program_.graph;
    Input input;
    input.kind = InputKind::kBuffer;
    input.target = cat(kModule, ".", name);
    if (graph.find_target(input.target) != nullptr)
      refuse_to_wrap(cat("it has a ", input.target, " already"));
    input.value = free_name(graph, value_name(input.kind, input.target));
    TensorMeta meta;
    for (const std::int64_t size : sizes)
      meta.sizes.emplace_back(size);
    meta.strides = dense_strides(meta.sizes, {});
    graph.tensors[input.value] = meta;
    program_.weights[input.target] = tensor_of(DType::kFloat32, sizes, values);
    // Parameters and buffers come before constants and the user's inputs.
    const auto place = std::find_if(
        graph.inputs.begin(), graph.inputs.end(), [](const Input& each) {
          return each.kind == InputKind::kConstant ||
              each.kind == InputKind::kUser;
        });
    const std::string value = input.value;
    graph.inputs.insert(place, std::move(input));
    return value;
  }

 private:
  // "aten.sub.Tensor" makes a value called "sub".
  static std::string plain(const std::string& op) {
    return split(op, '.').at(1);
  }

  Program& program_;
  std::vector<Node>& nodes_;
};

NamedArgument self(const std::string& value) {
  return {"self", TensorName{value}, false};
}

// The sizes that the user hands over, in the order of their files.
Sizes raw_sizes(const Sizes& model, const std::string& order) {
  if (order.empty()) return model;
  if (model.size() != 4)
    refuse_to_wrap(
        cat("it takes ", model.size() - 1, " dimensions a sample, not images"));
  if (order == "HWC") return {model[0], model[2], model[3], model[1]};
  if (order == "HW" && model[1].fixed() && model[1].value == 1)
    return {model[0], model[2], model[3]};
  refuse_to_wrap(cat("samples in the order ", order, " do not fit it"));
}

// One value for all, or one for each entry of dimension 1.
std::vector<std::int64_t> scale_sizes(
    const Sizes& model,
    const std::vector<double>& values) {
  if (values.size() == 1) return {1};
  if (model.size() < 2 || !model[1].fixed() ||
      model[1].value != static_cast<std::int64_t>(values.size()))
    refuse_to_wrap(
        cat("it was scaled with ",
            values.size(),
            " means, and its input has other channels or columns"));
  std::vector<std::int64_t> sizes(model.size() - 1, 1);
  sizes[0] = model[1].value;
  return sizes;
}

// From what the user hands over to what the model reads; the last value's name.
std::string steps_before(
    Steps& steps,
    const std::string& raw,
    const Sizes& model,
    DType model_type,
    const InputSteps& before) {
  const std::string order = before.pixels ? "HWC" : before.order;
  DType type = before.pixels ? DType::kUint8 : DType::kFloat32;
  std::string x = raw;
  if (order == "HWC") {
    x = steps.add(
        "aten.permute.default",
        {self(x), {"dims", Ints{0, 3, 1, 2}, false}},
        type,
        model,
        {4, 1, 3, 2}); // a view: the channels of a pixel still lie together
    x = steps.add(
        "aten.clone.default",
        {self(x), {"memory_format", MemoryFormat{kContiguous}, true}},
        type,
        model);
  } else if (order == "HW") {
    x = steps.add(
        "aten.unsqueeze.default",
        {self(x), {"dim", std::int64_t{1}, false}},
        type,
        model);
  }
  if (before.pixels) {
    type = DType::kFloat32;
    x = steps.add(
        "aten.to.dtype", {self(x), {"dtype", type, false}}, type, model);
    x = steps.add(
        "aten.div.Tensor", {self(x), {"other", 255.0, false}}, type, model);
  }
  if (!before.fill.empty()) {
    const auto fill =
        steps.constant("fill", scale_sizes(model, before.fill), before.fill);
    const auto missing =
        steps.add("aten.isnan.default", {self(x)}, DType::kBool, model);
    x = steps.add(
        "aten.where.self",
        {{"condition", TensorName{missing}, false},
         {"self", TensorName{fill}, false},
         {"other", TensorName{x}, false}},
        type,
        model);
  }
  if (!before.mean.empty()) {
    const auto sizes = scale_sizes(model, before.mean);
    const auto mean = steps.constant("mean", sizes, before.mean);
    const auto deviation = steps.constant("std", sizes, before.deviation);
    x = steps.add(
        "aten.sub.Tensor",
        {self(x), {"other", TensorName{mean}, false}},
        type,
        model);
    x = steps.add(
        "aten.div.Tensor",
        {self(x), {"other", TensorName{deviation}, false}},
        type,
        model);
  }
  if (model_type != type)
    x = steps.add(
        "aten.to.dtype",
        {self(x), {"dtype", model_type, false}},
        model_type,
        model);
  return x;
}

std::string probabilities(
    Steps& steps,
    const Graph& graph,
    const std::string& y,
    OutputStep step) {
  const TensorMeta& meta = graph.meta(y);
  const Node* last = maker_of(graph, y);
  const std::string_view op =
      last == nullptr ? std::string_view() : op_name(last->op).name;
  if (op == "log_softmax" || op == "_log_softmax")
    return steps.add("aten.exp.default", {self(y)}, meta.dtype, meta.sizes);
  if (op == "softmax" || op == "_softmax") return y;
  if (op == "sigmoid" && step == OutputStep::kSigmoid) return y;
  if (step == OutputStep::kSigmoid)
    return steps.add("aten.sigmoid.default", {self(y)}, meta.dtype, meta.sizes);
  if (meta.sizes.size() < 2) refuse_to_wrap("its output has no classes");
  return steps.add(
      "aten.softmax.int",
      {self(y), {"dim", std::int64_t{1}, false}},
      meta.dtype,
      meta.sizes);
}

std::string scaled_back(
    Steps& steps,
    const Graph& graph,
    const std::string& y,
    const OutputSteps& after) {
  const TensorMeta& meta = graph.meta(y);
  const auto count = static_cast<std::int64_t>(after.mean.size());
  const bool fits = count == 1 ||
      (!meta.sizes.empty() && meta.sizes.back().fixed() &&
       meta.sizes.back().value == count);
  if (!fits) refuse_to_wrap(cat("its output has no ", count, " columns"));
  const auto mean = steps.constant("target_mean", {count}, after.mean);
  const auto deviation = steps.constant("target_std", {count}, after.deviation);
  const auto product = steps.add(
      "aten.mul.Tensor",
      {self(y), {"other", TensorName{deviation}, false}},
      meta.dtype,
      meta.sizes);
  return steps.add(
      "aten.add.Tensor",
      {self(product), {"other", TensorName{mean}, false}},
      meta.dtype,
      meta.sizes);
}

Output& first_output(Graph& graph) {
  for (Output& output : graph.outputs)
    if (output.kind == OutputKind::kUser &&
        std::holds_alternative<TensorName>(output.value))
      return output;
  refuse_to_wrap("its first output is no tensor");
}

const char* input_words(const InputSteps& before) {
  if (before.pixels) return "pixels from 0 to 255 in";
  return before.mean.empty() && before.order.empty() ? "inputs as they are"
                                                     : "raw numbers in";
}

const char* output_words(OutputStep step) {
  switch (step) {
    case OutputStep::kNone:
      return "outputs as they are";
    case OutputStep::kSoftmax:
    case OutputStep::kSigmoid:
      return "probabilities out";
    case OutputStep::kScale:
      return "the target's own units out";
  }
  throw Bug("an output step outside the table");
}

} // namespace

Passed wrap_model(
    const Program& program,
    const InputSteps& before,
    const OutputSteps& after) {
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  const auto users = graph.inputs_of(InputKind::kUser);
  if (users.size() != 1)
    refuse_to_wrap(cat("it takes ", users.size(), " inputs, not one"));
  const std::string raw = users[0]->value;
  const TensorMeta model = graph.meta(raw);

  // Under a name of their own first, so that the model reads the new values.
  std::vector<Node> nodes;
  Steps first(passed.program, nodes);
  const std::string ready =
      steps_before(first, raw, model.sizes, model.dtype, before);
  if (ready != raw) replace_value(graph, raw, ready);
  graph.nodes.insert(graph.nodes.begin(), nodes.begin(), nodes.end());
  TensorMeta& outside = graph.tensors.at(raw);
  outside.dtype = before.pixels ? DType::kUint8
      : ready == raw            ? model.dtype
                                : DType::kFloat32;
  outside.sizes = raw_sizes(model.sizes, before.pixels ? "HWC" : before.order);
  outside.strides = dense_strides(outside.sizes, {});

  if (after.step != OutputStep::kNone) {
    Output& output = first_output(graph);
    const std::string y = std::get<TensorName>(output.value).name;
    nodes.clear();
    Steps last(passed.program, nodes);
    const std::string made = after.step == OutputStep::kScale
        ? scaled_back(last, graph, y, after)
        : probabilities(last, graph, y, after.step);
    output.value = TensorName{made};
    graph.nodes.insert(graph.nodes.end(), nodes.begin(), nodes.end());
  }
  validate(passed.program);
  passed.report =
      cat("preprocessing inside: ",
          input_words(before),
          ", ",
          output_words(after.step));
  return passed;
}

} // namespace temper::graph
