#include <nlohmann/json.hpp>

#include "temper/graph/cost/summary.h"

namespace temper::graph {
namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const NamedShape& each) {
  return {
      {"name", each.name},
      {"dtype", name_of(each.shape.dtype)},
      {"sizes", each.shape.sizes}};
}

Json shapes_json(const std::vector<NamedShape>& shapes) {
  Json list = Json::array();
  for (const auto& each : shapes)
    list.push_back(shape_json(each));
  return list;
}

Json cost_json(const Cost& cost) {
  return {
      {"macs", cost.macs},
      {"flops", cost.flops},
      {"backward_flops", cost.backward_flops},
      {"bytes_read", cost.bytes_read},
      {"bytes_written", cost.bytes_written}};
}

Json peak_json(const Summary& summary, const Peak& peak) {
  const bool known = peak.node < summary.nodes.size();
  return {
      {"bytes", peak.bytes},
      {"node", known ? summary.nodes[peak.node].name : ""},
      {"module", known ? summary.nodes[peak.node].module : ""},
      {"backward", peak.backward}};
}

Json module_json(const ModuleRow& row) {
  Json json{
      {"path", row.path},
      {"operators", row.ops},
      {"output", row.output.sizes},
      {"parameters", row.parameters},
      {"activation_bytes", row.made_bytes},
      {"saved_bytes", row.saved_bytes}};
  json.update(cost_json(row.cost));
  return json;
}

Json node_json(const NodeRow& node) {
  Json json{
      {"name", node.name},
      {"operator", node.op},
      {"module", node.module},
      {"source", node.source},
      {"results", shapes_json(node.results)},
      {"parameters", node.parameters},
      {"activation_bytes", node.made_bytes},
      {"saved_bytes", node.saved_bytes}};
  json.update(cost_json(node.cost));
  return json;
}

} // namespace

std::string to_json(const Summary& summary, const SummaryStyle& style) {
  Json json{
      {"schema", 1},
      {"model", summary.name},
      {"producer", summary.producer},
      {"batch", summary.batch},
      {"fixed_batch", summary.fixed_batch},
      {"inputs", shapes_json(summary.inputs)},
      {"outputs", shapes_json(summary.outputs)},
      {"parameters", summary.parameters},
      {"trainable_parameters", summary.trainable},
      {"unused_parameters", summary.unused},
      {"parameter_bytes", summary.parameter_bytes},
      {"buffers", summary.buffers},
      {"buffer_bytes", summary.buffer_bytes},
      {"input_bytes", summary.input_bytes},
      {"activation_bytes", summary.activation_bytes},
      {"saved_bytes", summary.saved_bytes},
      {"eval_peak", peak_json(summary, summary.eval_peak)},
      {"train_peak", peak_json(summary, summary.train_peak)}};
  json.update(cost_json(summary.cost));
  const int depth = style.depth > 0 ? style.depth : readable_depth(summary);
  json["modules"] = Json::array();
  for (const auto& row : by_module(summary, depth))
    json["modules"].push_back(module_json(row));
  if (style.nodes) {
    json["nodes"] = Json::array();
    for (const auto& node : summary.nodes)
      json["nodes"].push_back(node_json(node));
  }
  // Names come from people's files, in any encoding.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace temper::graph
