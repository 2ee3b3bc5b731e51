#include "temper/graph/pt2/pt2_nodes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/operator.h"
#include "temper/graph/pt2/pt2_arguments.h"
#include "temper/graph/pt2/pt2_trace.h"
#include "temper/graph/pt2/pt2_values.h"

namespace temper::graph::pt2 {
namespace {

constexpr std::string_view kOperators = "torch.ops.";
constexpr std::string_view kNested = "higher_order.";
constexpr std::array<const char*, 4> kValues{
    "tensor_values",
    "sym_int_values",
    "sym_float_values",
    "sym_bool_values"};

// "node conv2d (aten.conv2d.default in features.0.0, net.py:27)"
std::string place_of(const Node& node) {
  const auto made = values_made(node);
  std::string place = cat(
      "node ", made.empty() ? "" : shown(made[0]) + " ", "(", shown(node.op));
  if (!node.module.empty()) place += cat(" in ", shown(node.module));
  if (!node.source.empty()) place += cat(", ", shown(node.source));
  return place + ")";
}

NamedArgument read_input(const Json& json) {
  NamedArgument made;
  made.name = text_of(need(json, "name"), "name");
  made.value = read_argument(need(json, "arg"));
  const Json* kind = find(json, "kind");
  constexpr std::int64_t kKeyword = 2;
  if (kind != nullptr && !kind->is_null())
    made.keyword = int_of(*kind, "kind") == kKeyword;
  return made;
}

// Without its arguments.
Node read_head(const Json& json) {
  Node node;
  node.op = name_of(need(json, "target"), "target");
  if (node.op.starts_with(kOperators)) node.op.erase(0, kOperators.size());
  if (node.op.empty()) throw Unreadable("a node has no operator");
  if (const Json* metadata = find(json, "metadata"))
    for (const auto& [key, value] : object_of(*metadata, "metadata").items())
      if (value.is_string()) node.metadata[key] = value.get<std::string>();
  if (node.metadata.count("nn_module_stack") > 0)
    node.module = module_of(node.metadata["nn_module_stack"]);
  if (node.metadata.count("stack_trace") > 0)
    node.source = source_of(node.metadata["stack_trace"]);
  // Results first: they give the node its name in messages.
  const Json& results = list_of(need(json, "outputs"), "outputs");
  at_place(place_of(node), [&] {
    for (const Json& each : results)
      node.outputs.push_back(read_result(each));
  });
  return node;
}

template <class Rename>
void rename_in(Argument& argument, const Rename& rename) {
  if (auto* tensor = std::get_if<TensorName>(&argument)) {
    rename(tensor->name);
  } else if (auto* tensors = std::get_if<TensorNames>(&argument)) {
    for (TensorName& each : *tensors)
      rename(each.name);
  } else if (auto* some = std::get_if<OptionalTensorNames>(&argument)) {
    for (auto& each : *some)
      if (each) rename(each->name);
  } else if (auto* number = std::get_if<NumberName>(&argument)) {
    rename(number->name);
  } else if (auto* sizes = std::get_if<std::vector<IntOrName>>(&argument)) {
    for (IntOrName& each : *sizes)
      if (auto* name = std::get_if<NumberName>(&each)) rename(name->name);
  }
}

template <class Rename>
void rename_in(Result& result, const Rename& rename) {
  if (auto* tensor = std::get_if<TensorName>(&result))
    rename(tensor->name);
  else if (auto* tensors = std::get_if<TensorNames>(&result))
    for (TensorName& each : *tensors)
      rename(each.name);
  else if (auto* number = std::get_if<NumberName>(&result))
    rename(number->name);
}

// Every value that an argument names; "" for one that is a constant.
std::vector<std::string> names_in(const Argument& argument) {
  if (const auto* number = std::get_if<NumberName>(&argument))
    return {number->name};
  if (std::holds_alternative<TensorNames>(argument) ||
      std::holds_alternative<TensorName>(argument))
    return tensors_in(argument);
  return {""};
}

std::vector<std::string> names_in(const Json& list, const char* what) {
  std::vector<std::string> all;
  for (const Json& each : list_of(list, what))
    for (std::string& name : names_in(read_argument(each)))
      all.push_back(std::move(name));
  return all;
}

using Names = std::map<std::string, std::string>;

std::string known_as(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

// Values are described apart from the nodes that make them.
std::string maker_of(const Json& graph_json, const std::string& value) {
  for (const Json& each : list_of(need(graph_json, "nodes"), "nodes")) {
    const Node node = read_head(each);
    for (const std::string& name : values_made(node))
      if (name == value) return place_of(node);
  }
  return cat("the value ", shown(value));
}

// Those whose body runs once, whatever the values are.
bool runs_once(const std::string& op) {
  constexpr std::array<std::string_view, 7> kOnce{
      "wrap_with_set_grad_enabled",
      "wrap_with_autocast",
      "wrap",
      "wrap_activation_checkpoint",
      "tag_activation_checkpoint",
      "hints_wrapper",
      "invoke_subgraph"};
  const std::string_view name = std::string_view(op).substr(kNested.size());
  return std::ranges::find(kOnce, name) != std::end(kOnce);
}

[[noreturn]] void refuse_nested(const std::string& op) {
  const auto is = [&](const char* name) { return contains(op, name); };
  if (is("cond"))
    throw Unreadable(
        "it runs one of two graphs, as its input decides (torch.cond), which "
        "temper does not",
        "Compute both and choose: torch.where(condition, a, b).");
  if (is("while_loop") || is("scan") || is("map"))
    throw Unreadable(
        "it runs a graph again and again (a loop of torch's own), which temper "
        "does not",
        "Write a Python loop over a fixed number of steps: torch.export "
        "unrolls it.");
  if (is("flex_attention"))
    throw Unreadable(
        "it is an attention with a graph of its own, which temper does not run",
        "Use torch.nn.functional.scaled_dot_product_attention with a mask.");
  throw Unreadable(
      "it runs a graph of its own, which temper does not",
      "Write the model without it.");
}

bool is_low(DType type) {
  return type == DType::kFloat16 || type == DType::kBfloat16;
}

// autocast leaves these as they are, whatever types they mix.
bool mixes_types(const Node& node) {
  const Operator* page = find_operator(node);
  return op_name(node.op).in_place || (page != nullptr && page->mixes_types);
}

bool names_a_type(const Node& node) {
  return std::ranges::any_of(node.inputs, [](const NamedArgument& each) {
    return std::holds_alternative<DType>(each.value);
  });
}

} // namespace

bool NodeReader::Wrapper::stops_gradient() const {
  return contains(op, "set_grad_enabled") && !settings.empty() &&
      settings[0] == Argument(false);
}

// Its settings are the device, the type, whether it is on, and a cache.
std::optional<DType> NodeReader::Wrapper::autocast() const {
  if (!contains(op, "autocast") || settings.size() < 3 ||
      settings[2] != Argument(true))
    return std::nullopt;
  const auto* type = std::get_if<DType>(&settings[1]);
  return type == nullptr ? DType::kBfloat16 : *type;
}

void NodeReader::read(const Json& graph_json) {
  for (const char* field : kValues)
    if (const Json* values = find(graph_json, field))
      for (const auto& [name, json] : object_of(*values, field).items())
        taken_.insert(name);
  describe(graph_json, whole_);
  nodes(graph_json, whole_);
  for (const auto& [result, now] : whole_.names) {
    graph_.tensors.erase(result);
    graph_.numbers.erase(result);
  }
}

void NodeReader::rename(Argument& argument) const {
  rename_in(argument, [&](std::string& name) {
    name = known_as(whole_.names, name);
  });
}

void NodeReader::describe(const Json& graph_json, const Scope& scope) {
  for (const char* field : kValues) {
    const bool tensors = field == kValues[0];
    const Json* values = find(graph_json, field);
    if (values == nullptr && tensors) need(graph_json, field);
    if (values == nullptr) continue;
    for (const auto& [name, json] : object_of(*values, field).items())
      try {
        const std::string now = known_as(scope.names, name);
        if (tensors)
          graph_.tensors.emplace(now, read_meta(json));
        else
          graph_.numbers.emplace(now, read_number(json));
      } catch (const Unreadable& problem) {
        throw Unreadable(
            cat(maker_of(graph_json, name), ": ", problem.why()),
            problem.hint());
      }
  }
}

void NodeReader::nodes(const Json& graph_json, Scope& scope) {
  for (const Json& each : list_of(need(graph_json, "nodes"), "nodes"))
    node(each, scope);
}

void NodeReader::node(const Json& json, Scope& scope) {
  Node node = read_head(json);
  const std::string place = place_of(node);
  if (node.op.starts_with(kNested)) {
    Wrapper wrapper;
    at_place(place, [&] { wrapper = read_wrapper(json, node, scope); });
    inline_body(wrapper, node, scope);
    return;
  }
  at_place(place, [&] {
    for (const Json& each : list_of(need(json, "inputs"), "inputs"))
      node.inputs.push_back(read_input(each));
  });
  const auto rename = [&](std::string& name) {
    name = known_as(scope.names, name);
  };
  for (NamedArgument& each : node.inputs)
    rename_in(each.value, rename);
  for (Result& each : node.outputs)
    rename_in(each, rename);
  if (scope.autocast) cast_arguments(node, *scope.autocast);
  graph_.nodes.push_back(std::move(node));
}

NodeReader::Wrapper NodeReader::read_wrapper(
    const Json& json,
    const Node& about,
    const Scope& scope) {
  if (!runs_once(about.op)) refuse_nested(about.op);
  Wrapper made;
  made.op = about.op;
  for (const Json& each : list_of(need(json, "inputs"), "inputs")) {
    const auto [kind, value] = choice_of(need(each, "arg"), "arg");
    if (kind == "as_graph") {
      if (made.body != nullptr) refuse_nested(about.op);
      made.body = &need(value, "graph");
      continue;
    }
    Argument argument = read_argument(need(each, "arg"));
    // Behind the body there may be the name of a region, too.
    if (made.body == nullptr || std::holds_alternative<std::string>(argument)) {
      made.settings.push_back(std::move(argument));
      continue;
    }
    for (const std::string& name : names_in(argument))
      made.operands.push_back(known_as(scope.names, name));
  }
  if (made.body == nullptr) throw Unreadable("it has no body");
  return made;
}

// Without gradients, the body works on detached values: what it changes in
// place is changed, and nothing in it is remembered for the backward pass.
void NodeReader::inline_body(
    const Wrapper& wrapper,
    const Node& about,
    Scope& scope) {
  std::vector<std::string> given = wrapper.operands;
  std::map<std::string, std::string> back;
  if (wrapper.stops_gradient())
    for (std::string& name : given) {
      const auto found = graph_.tensors.find(name);
      if (found == graph_.tensors.end() || still_.count(name) > 0 ||
          !is_floating(found->second.dtype))
        continue;
      const std::string from = name;
      name = copy_of(from, "aten.detach.default", std::nullopt, about);
      back[name] = from;
    }
  Scope inner = enter(*wrapper.body, given);
  inner.autocast =
      contains(wrapper.op, "autocast") ? wrapper.autocast() : scope.autocast;
  describe(*wrapper.body, inner);
  nodes(*wrapper.body, inner);

  std::vector<std::string> results;
  for (const Result& each : about.outputs)
    for (std::string& name : names_in(std::visit(
             [](const auto& result) { return Argument(result); }, each)))
      results.push_back(std::move(name));
  const auto made = names_in(need(*wrapper.body, "outputs"), "outputs");
  if (made.size() != results.size())
    throw Unreadable(cat(
        place_of(about), ": its body has another number of results than it"));
  for (std::size_t i = 0; i < made.size(); ++i) {
    std::string now = known_as(inner.names, made[i]);
    if (const auto own = back.find(changed(now)); own != back.end())
      now = own->second;
    const std::string result = known_as(scope.names, results[i]);
    scope.names[results[i]] = now;
    if (result == now) continue;
    graph_.tensors.erase(result);
    graph_.numbers.erase(result);
  }
}

NodeReader::Scope NodeReader::enter(
    const Json& body,
    const std::vector<std::string>& given) {
  Scope inner;
  const auto inputs = names_in(need(body, "inputs"), "inputs");
  if (inputs.size() != given.size())
    throw Unreadable("a wrapper gives its body another number of values");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].empty()) inner.names[inputs[i]] = given[i];
  for (const char* field : kValues)
    if (const Json* values = find(body, field))
      for (const auto& [name, json] : object_of(*values, field).items())
        if (inner.names.count(name) == 0) inner.names[name] = free_name(name);
  return inner;
}

// The types that the file has for arguments and result show what autocast does
// to an operator.
void NodeReader::cast_arguments(Node& node, DType low) {
  if (mixes_types(node) || names_a_type(node) || node.outputs.empty()) return;
  const auto made = tensors_in(node.outputs[0]);
  const auto result =
      made.empty() ? graph_.tensors.end() : graph_.tensors.find(made[0]);
  if (result == graph_.tensors.end()) return;
  bool all_low = true;
  bool any = false;
  bool single = false;
  for (const NamedArgument& each : node.inputs)
    for (const std::string& name : tensors_in(each.value)) {
      const auto found = graph_.tensors.find(name);
      if (found == graph_.tensors.end() || !is_floating(found->second.dtype))
        continue;
      any = true;
      all_low = all_low && is_low(found->second.dtype);
      single = single ||
          (found->second.dtype == DType::kFloat32 &&
           !found->second.sizes.empty());
    }
  const DType type = result->second.dtype;
  const bool down = type == low && single;
  const bool up = type == DType::kFloat32 && any && all_low;
  if (!down && !up) return;
  const Node about = node;
  for (NamedArgument& each : node.inputs)
    rename_in(each.value, [&](std::string& name) {
      const auto found = graph_.tensors.find(name);
      if (found == graph_.tensors.end()) return;
      const DType now = found->second.dtype;
      if (down ? now == DType::kFloat32 : is_low(now))
        name = copy_of(name, "aten.to.dtype", type, about);
    });
}

std::string NodeReader::copy_of(
    const std::string& value,
    const char* op,
    std::optional<DType> type,
    const Node& about) {
  Node node;
  node.op = op;
  node.module = about.module;
  node.source = about.source;
  node.metadata = about.metadata;
  node.inputs.push_back({"self", TensorName{value}, false});
  if (type) node.inputs.push_back({"dtype", *type, false});
  TensorMeta meta = graph_.tensors.at(value);
  meta.requires_grad = false;
  if (type) meta.dtype = *type;
  const std::string name =
      free_name(cat(value, type ? "_autocast" : "_no_grad"));
  node.outputs.emplace_back(TensorName{name});
  graph_.tensors[name] = std::move(meta);
  graph_.nodes.push_back(std::move(node));
  return name;
}

std::string NodeReader::free_name(const std::string& wanted) {
  std::string name = wanted;
  for (int number = 1; !taken_.insert(name).second; ++number)
    name = cat(wanted, "_", number);
  return name;
}

std::string NodeReader::changed(std::string value) const {
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    const auto made = values_made(*node);
    if (made.size() != 1 || made[0] != value) continue;
    if (!op_name(node->op).in_place) break;
    value = NodeArguments(*node).subject();
  }
  return value;
}

} // namespace temper::graph::pt2
