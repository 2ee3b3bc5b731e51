#include "temper/graph/pt2/pt2_calling.h"

#include <set>

namespace temper::graph::pt2 {
namespace {

// Leaves of one level in PyTorch's notation of nested arguments.
Json leaves(std::size_t count) {
  const Json leaf{
      {"type", nullptr},
      {"context", nullptr},
      {"children_spec", Json::array()}};
  return Json(Json::array_t(count, leaf));
}

Json tuple_of(const Json& children) {
  return {
      {"type", "builtins.tuple"},
      {"context", "null"},
      {"children_spec", children}};
}

// f(x, y) without keywords.
std::string plain_in_spec(std::size_t count) {
  const Json keywords{
      {"type", "builtins.dict"},
      {"context", "[]"},
      {"children_spec", Json::array()}};
  const Json arguments = tuple_of(leaves(count));
  return Json::array({1, tuple_of(Json::array({arguments, keywords}))}).dump();
}

std::string plain_out_spec(std::size_t count) {
  const Json all = leaves(count);
  return Json::array({1, count == 1 ? all[0] : tuple_of(all)}).dump();
}

std::size_t leaf_count(const Json& spec) {
  const Json* children = find(spec, "children_spec");
  const Json* type = find(spec, "type");
  if (children == nullptr || type == nullptr) return 0;
  if (type->is_null()) return 1;
  std::size_t count = 0;
  for (const Json& child : *children)
    count += leaf_count(child);
  return count;
}

// Kept as long as it still fits: a pass may have changed inputs or outputs.
std::string
spec_for(const std::string& spec, std::size_t count, const std::string& plain) {
  bool fits = false;
  try {
    const Json parsed = parse_json(spec, "");
    fits = parsed.is_array() && parsed.size() == 2 &&
        leaf_count(parsed[1]) == count;
  } catch (const Unreadable&) { // none, or not one of torch.export's
  }
  return fits ? spec : plain;
}

} // namespace

Json write_calls(const Graph& graph) {
  std::size_t outputs = 0;
  for (const Output& output : graph.outputs)
    outputs += output.kind == OutputKind::kUser ? 1 : 0;
  const auto inputs = graph.inputs_of(InputKind::kUser);
  auto names = graph.calling.argument_names;
  const std::string in_spec = spec_for(
      graph.calling.in_spec, inputs.size(), plain_in_spec(inputs.size()));
  if (in_spec != graph.calling.in_spec || names.empty()) {
    names.clear();
    for (const Input* input : inputs)
      names.push_back(input->target);
  }
  const Json signature{
      {"inputs", Json::array()},
      {"outputs", Json::array()},
      {"in_spec", in_spec},
      {"out_spec",
       spec_for(graph.calling.out_spec, outputs, plain_out_spec(outputs))},
      {"forward_arg_names", names}};
  Json calls = Json::array();
  calls.push_back({{"fqn", ""}, {"signature", signature}});
  std::set<std::string> seen;
  for (const Node& node : graph.nodes)
    for (std::size_t at = 0; !node.module.empty() && at != std::string::npos;) {
      at = node.module.find('.', at + 1);
      const std::string path = node.module.substr(0, at);
      if (seen.insert(path).second)
        calls.push_back({{"fqn", path}, {"signature", nullptr}});
    }
  return calls;
}

} // namespace temper::graph::pt2
