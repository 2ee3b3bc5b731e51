#include "temper/model/script/script_builder.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/op/operator.h"
#include "temper/model/executor/executor_errors.h"
#include "temper/model/export/older_nodes.h"

namespace temper::model {
namespace {

using torch::jit::NamedValue;
using torch::jit::Symbol;

// Python's operators on numbers, by what TorchScript calls them.
const std::map<std::string, const char*>& number_operators() {
  static const std::map<std::string, const char*> table{
      {"_operator.add", "aten::add"},
      {"_operator.and_", "aten::__and__"},
      {"_operator.eq", "aten::eq"},
      {"_operator.floordiv", "aten::floordiv"},
      {"_operator.ge", "aten::ge"},
      {"_operator.gt", "aten::gt"},
      {"_operator.le", "aten::le"},
      {"_operator.lt", "aten::lt"},
      {"_operator.mod", "aten::remainder"},
      {"_operator.mul", "aten::mul"},
      {"_operator.ne", "aten::ne"},
      {"_operator.neg", "aten::neg"},
      {"_operator.or_", "aten::__or__"},
      {"_operator.pow", "aten::pow"},
      {"_operator.sub", "aten::sub"},
      {"_operator.truediv", "aten::div"},
      {"aten.sym_numel.default", "aten::numel"},
      {"aten.sym_size.int", "aten::size"},
      {"aten.sym_storage_offset.default", "aten::storage_offset"},
      {"math.ceil", "aten::ceil"},
      {"math.floor", "aten::floor"},
      {"math.trunc", "aten::Int"},
      {"torch._sym_sqrt", "aten::sqrt"},
      {"torch.sym_float", "aten::Float"},
      {"torch.sym_int", "aten::Int"},
      {"torch.sym_max", "prim::max"},
      {"torch.sym_min", "prim::min"},
      {"torch.sym_not", "aten::__not__"},
  };
  return table;
}

// The exporter's own checks of sizes; they make nothing.
bool is_assertion(const std::string& op) {
  const graph::Operator* page = graph::find_operator(graph::op_name(op));
  return page != nullptr && page->only_checks;
}

// "aten.add.Tensor" -> {"aten::add", "Tensor"}.
c10::OperatorName operator_name(const std::string& op) {
  const auto parts = split(op, '.');
  if (parts.size() != 3) return {op, ""};
  return {cat(parts[0], "::", parts[1]), parts[2] == "default" ? "" : parts[2]};
}

bool is_number(const graph::Argument& argument) {
  return std::holds_alternative<std::int64_t>(argument) ||
      std::holds_alternative<double>(argument) ||
      std::holds_alternative<bool>(argument) ||
      std::holds_alternative<graph::NumberName>(argument);
}

} // namespace

ScriptBuilder::ScriptBuilder(
    const graph::Program& program,
    const torch::jit::Module& module)
    : program_(program),
      module_(module),
      graph_(std::make_shared<torch::jit::Graph>()) {}

std::shared_ptr<torch::jit::Graph> ScriptBuilder::build() {
  add_inputs();
  for (const auto& node : program_.graph.nodes) {
    try {
      add_node(node);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      const std::string words = error.what();
      throw Error(
          cat("[model] TorchScript cannot say ",
              node_text(node),
              ": ",
              trim(words.substr(0, words.find("Exception raised from")))));
    }
  }
  add_outputs();
  graph_->lint();
  return graph_;
}

void ScriptBuilder::add_inputs() {
  attributes_[""] = graph_->addInput("self")->setType(module_.type());
  for (const auto& input : program_.graph.inputs)
    if (input.kind == graph::InputKind::kUser)
      values_[input.value] =
          graph_->addInput(input.value)->setType(c10::TensorType::get());
  for (const auto& input : program_.graph.inputs)
    if (input.kind != graph::InputKind::kUser)
      values_[input.value] = attribute(input.target);
}

torch::jit::Value* ScriptBuilder::attribute(const std::string& target) {
  const auto known = attributes_.find(target);
  if (known != attributes_.end()) return known->second;
  const auto dot = target.rfind('.');
  Value* parent = attribute(dot == target.npos ? "" : target.substr(0, dot));
  Value* made = graph_->insertGetAttr(
      parent, dot == target.npos ? target : target.substr(dot + 1));
  return attributes_[target] = made;
}

torch::jit::Value* ScriptBuilder::value_named(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    throw Error(cat("[model] the graph has no value ", name, "."));
  return found->second;
}

void ScriptBuilder::add_node(const graph::Node& node) {
  if (is_assertion(node.op) || add_number(node)) return;
  const bool missing =
      !c10::Dispatcher::singleton().findSchema(operator_name(node.op));
  if (missing) {
    const auto parts = older_nodes(node, program_.graph);
    if (parts.empty()) refuse_operator(node);
    for (const auto& part : parts)
      add_node(part);
    return;
  }
  add_operator(node);
}

bool ScriptBuilder::add_number(const graph::Node& node) {
  if (node.op == "_operator.pos") {
    values_[std::get<graph::NumberName>(node.outputs.at(0)).name] =
        argument_value(node.inputs.at(0).value);
    return true;
  }
  const auto found = number_operators().find(node.op);
  if (found == number_operators().end()) return false;
  std::vector<NamedValue> arguments;
  for (const auto& input : node.inputs)
    arguments.emplace_back(argument_value(input.value));
  Value* made =
      graph_->insert(Symbol::fromQualString(found->second), arguments);
  values_[std::get<graph::NumberName>(node.outputs.at(0)).name] = made;
  return true;
}

const c10::FunctionSchema& ScriptBuilder::schema_for(
    const graph::Node& node) const {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto name = operator_name(node.op);
  const auto& own = dispatcher.findSchema(name)->schema();
  for (const auto& argument : own.arguments()) {
    const auto* given = node.find(argument.name());
    if (given == nullptr || !is_number(*given) ||
        !argument.type()->isSubtypeOf(*c10::TensorType::get()))
      continue;
    if (const auto other = dispatcher.findSchema({name.name, "Scalar"}))
      return other->schema();
  }
  return own;
}

void ScriptBuilder::add_operator(const graph::Node& node) {
  const auto& schema = schema_for(node);
  std::vector<Value*> arguments;
  std::size_t used = 0;
  for (const auto& formal : schema.arguments()) {
    const auto* given = node.find(formal.name());
    used += given == nullptr ? 0 : 1;
    Value* value = nullptr;
    if (given != nullptr)
      value = argument_value(*given);
    else if (formal.default_value())
      value = graph_->insertConstant(*formal.default_value());
    else if (formal.type()->kind() == c10::TypeKind::OptionalType)
      value = graph_->insertConstant(c10::IValue());
    else
      throw Error(
          cat("[model] ", node_text(node), " lacks its ", formal.name(), "."));
    // A number where only a tensor will do.
    if (given != nullptr && is_number(*given) &&
        formal.type()->isSubtypeOf(*c10::TensorType::get()))
      value = graph_->insert(
          Symbol::fromQualString("aten::scalar_tensor"), {NamedValue(value)});
    arguments.push_back(value);
  }
  if (used != node.inputs.size())
    throw Error(
        cat("[model] ",
            node_text(node),
            " has an argument that this LibTorch's operator does not take."),
        "Use a newer LibTorch.");
  auto* made = graph_->create(
      Symbol::fromQualString(schema.name()),
      arguments,
      schema.returns().size());
  for (std::size_t i = 0; i < schema.returns().size(); ++i)
    made->output(i)->setType(schema.returns()[i].type());
  graph_->insertNode(made);
  name_results(node, made);
}

void ScriptBuilder::name_results(
    const graph::Node& node,
    torch::jit::Node* made) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const auto& result = node.outputs[i];
    if (std::holds_alternative<graph::None>(result)) continue;
    if (i >= made->outputs().size())
      throw Error(
          cat("[model] ", node_text(node), " has more results than expected."));
    Value* value = made->output(i);
    if (const auto* tensor = std::get_if<graph::TensorName>(&result))
      values_[tensor->name] = value;
    else if (const auto* number = std::get_if<graph::NumberName>(&result))
      values_[number->name] = value;
    else {
      const auto& names = std::get<graph::TensorNames>(result);
      auto* parts =
          graph_->insertNode(graph_->createListUnpack(value, names.size()));
      for (std::size_t part = 0; part < names.size(); ++part)
        values_[names[part].name] = parts->output(part);
    }
  }
}

void ScriptBuilder::add_outputs() {
  std::vector<Value*> results;
  for (const auto& output : program_.graph.outputs) {
    if (output.kind == graph::OutputKind::kUser)
      results.push_back(argument_value(output.value));
    else
      graph_->insert(
          Symbol::fromQualString("aten::copy_"),
          {NamedValue(attribute(output.target)),
           NamedValue(argument_value(output.value))});
  }
  if (results.size() == 1)
    graph_->registerOutput(results.front());
  else
    graph_->registerOutput(
        graph_->insertNode(graph_->createTuple(results))->output());
}

} // namespace temper::model
