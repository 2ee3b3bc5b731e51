#include <map>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/pt2/pt2_arguments.h"
#include "temper/graph/pt2/pt2_calling.h"
#include "temper/graph/pt2/pt2_graph.h"
#include "temper/graph/pt2/pt2_trace.h"
#include "temper/graph/pt2/pt2_values.h"

namespace temper::graph::pt2 {
namespace {

// Operators have three parts, "aten.conv2d.default". What has two is Python's:
// "_operator.mul", "math.trunc".
std::string target_of(const std::string& op) {
  const auto first = op.find('.');
  const bool operators = op.find('.', first + 1) != std::string::npos ||
      op.starts_with("higher_order.");
  return operators ? cat("torch.ops.", op) : op;
}

// Names for nodes without a single result, like no value's.
class NodeNames {
 public:
  explicit NodeNames(const Graph& graph) {
    for (const Input& input : graph.inputs)
      taken_.insert(input.value);
    for (const Node& node : graph.nodes)
      for (const std::string& name : values_made(node))
        taken_.insert(name);
  }

  std::string name_of(const Node& node) {
    if (node.outputs.size() == 1 &&
        !std::holds_alternative<TensorNames>(node.outputs[0]) &&
        !std::holds_alternative<None>(node.outputs[0]))
      return values_made(node)[0];
    const auto parts = split(node.op, '.');
    const std::string base = parts.size() > 1 ? parts[1] : node.op;
    std::string name = base;
    for (int& count = counts_[base]; !taken_.insert(name).second;)
      name = cat(base, "_", ++count);
    return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> counts_;
};

Json metadata_of(const Node& node) {
  auto metadata = node.metadata;
  const auto known = [&](const char* key) { return metadata.count(key) > 0; };
  if (!known("nn_module_stack") ||
      module_of(metadata["nn_module_stack"]) != node.module)
    metadata["nn_module_stack"] = module_stack(node.module);
  if (!node.source.empty() &&
      (!known("stack_trace") ||
       source_of(metadata["stack_trace"]) != node.source))
    metadata["stack_trace"] = stack_trace(node.source);
  return metadata;
}

Json node_json(const Node& node, NodeNames& names) {
  Json inputs = Json::array();
  for (const NamedArgument& each : node.inputs)
    inputs.push_back(
        {{"name", each.name},
         {"arg", write_argument(each.value)},
         {"kind", each.keyword ? 2 : 1}});
  Json outputs = Json::array();
  for (const Result& each : node.outputs)
    outputs.push_back(write_result(each));
  return {
      {"target", target_of(node.op)},
      {"inputs", inputs},
      {"outputs", outputs},
      {"metadata", metadata_of(node)},
      {"is_hop_single_tensor_return", nullptr},
      {"name", names.name_of(node)}};
}

Json input_json(const Input& input) {
  const Json name{{"name", input.value}};
  switch (input.kind) {
    case InputKind::kParameter:
      return {{"parameter", {{"arg", name}, {"parameter_name", input.target}}}};
    case InputKind::kBuffer:
      return {
          {"buffer",
           {{"arg", name},
            {"buffer_name", input.target},
            {"persistent", input.persistent}}}};
    case InputKind::kConstant:
      return {
          {"tensor_constant",
           {{"arg", name}, {"tensor_constant_name", input.target}}}};
    case InputKind::kUser:
      break;
  }
  return {{"user_input", {{"arg", {{"as_tensor", name}}}}}};
}

Json output_json(const Output& output) {
  if (output.kind == OutputKind::kUser)
    return {{"user_output", {{"arg", write_argument(output.value)}}}};
  const auto* tensor = std::get_if<TensorName>(&output.value);
  check(tensor != nullptr, "what replaces a buffer is a tensor");
  return {
      {"buffer_mutation",
       {{"arg", {{"name", tensor->name}}}, {"buffer_name", output.target}}}};
}

void values_json(const Graph& graph, Json& json) {
  std::map<std::string, NumberKind> kinds;
  for (const Node& node : graph.nodes)
    for (const Result& result : node.outputs)
      if (const auto* number = std::get_if<NumberName>(&result))
        kinds[number->name] = number->kind;
  json["tensor_values"] = Json::object();
  for (const auto& [name, meta] : graph.tensors)
    json["tensor_values"][name] = write_meta(meta);
  for (const char* field :
       {"sym_int_values", "sym_float_values", "sym_bool_values"})
    json[field] = Json::object();
  for (const auto& [name, size] : graph.numbers) {
    const NumberKind kind = kinds[name];
    const char* field = kind == NumberKind::kInt ? "sym_int_values"
        : kind == NumberKind::kFloat             ? "sym_float_values"
                                                 : "sym_bool_values";
    json[field][name] = write_number(size, kind);
  }
}

} // namespace

Json write_graph(const Graph& graph) {
  Json json;
  json["inputs"] = Json::array();
  Json input_specs = Json::array();
  for (const Input& input : graph.inputs) {
    json["inputs"].push_back({{"as_tensor", {{"name", input.value}}}});
    input_specs.push_back(input_json(input));
  }
  json["outputs"] = Json::array();
  Json output_specs = Json::array();
  for (const Output& output : graph.outputs) {
    json["outputs"].push_back(write_argument(output.value));
    output_specs.push_back(output_json(output));
  }
  NodeNames names(graph);
  json["nodes"] = Json::array();
  for (const Node& node : graph.nodes)
    json["nodes"].push_back(node_json(node, names));
  values_json(graph, json);
  json["custom_obj_values"] = Json::object();
  json["is_single_tensor_return"] = false;

  Json ranges = Json::object();
  for (const auto& [symbol, range] : graph.symbols) {
    ranges[symbol] = {{"min_val", nullptr}, {"max_val", nullptr}};
    if (range.low) ranges[symbol]["min_val"] = *range.low;
    if (range.high) ranges[symbol]["max_val"] = *range.high;
  }
  constexpr std::string_view kTorch = "PyTorch ";
  const std::string version = graph.producer.starts_with(kTorch)
      ? graph.producer.substr(kTorch.size())
      : graph.producer;
  return {
      {"graph_module",
       {{"graph", json},
        {"signature",
         {{"input_specs", input_specs}, {"output_specs", output_specs}}},
        {"module_call_graph", write_calls(graph)},
        {"metadata", Json::object()},
        {"treespec_namedtuple_fields", Json::object()}}},
      {"opset_version", {{"aten", 10}}},
      {"range_constraints", ranges},
      {"schema_version", {{"major", 8}, {"minor", 20}}},
      {"verifiers", {"TRAINING"}},
      {"torch_version", version},
      {"guards_code", Json::array()}};
}

} // namespace temper::graph::pt2
