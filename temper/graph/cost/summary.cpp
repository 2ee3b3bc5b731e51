#include "temper/graph/cost/summary.h"

#include <algorithm>
#include <map>

#include "temper/base/text.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {
namespace {

// Operators that say nothing about a module: views and counters.
bool telling(std::string_view op) {
  constexpr std::string_view kSilent[] = {
      "view",      "reshape",   "flatten",    "transpose",       "permute",
      "expand",    "chunk",     "split",      "select",          "slice",
      "unsqueeze", "squeeze",   "contiguous", "clone",           "detach",
      "sym_size",  "unbind",    "zeros",      "arange",          "add_",
      "to",        "unflatten", "t",          "split_with_sizes"};
  return std::ranges::find(kSilent, op) == std::end(kSilent);
}

std::string first_names(const std::string& path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth; ++i) {
    end = path.find('.', end);
    if (end == std::string::npos) return path;
    ++end;
  }
  return path.substr(0, end - 1);
}

// Views alone are better than nothing.
std::vector<std::string>
all_ops(const Summary& summary, const std::string& path, int depth) {
  std::vector<std::string> ops;
  for (const auto& node : summary.nodes)
    if (first_names(node.module, depth) == path &&
        std::find(ops.begin(), ops.end(), node.op) == ops.end())
      ops.push_back(node.op);
  return ops;
}

void count_inputs(const Graph& graph, const Inferred& known, Summary& summary) {
  for (const auto& input : graph.inputs) {
    const auto shape = known.tensors.find(input.value);
    if (shape == known.tensors.end()) continue;
    const std::int64_t bytes = bytes_of(shape->second);
    const std::int64_t count = element_count(shape->second.sizes);
    if (input.kind == InputKind::kUser) {
      summary.inputs.push_back({input.value, shape->second});
    } else if (input.kind == InputKind::kParameter) {
      summary.parameters += count;
      summary.parameter_bytes += bytes;
      if (!input.trainable) continue;
      summary.trainable += count;
      summary.trainable_bytes += bytes;
    } else {
      ++summary.buffers;
      summary.buffer_bytes += bytes;
    }
  }
}

} // namespace

Summary
summarize(const std::string& name, const Graph& graph, const Symbols& symbols) {
  const Inferred known = infer(graph, symbols);
  const auto cost = costs(graph, known, symbols);
  const Liveness memory = liveness(graph, known, symbols);

  Summary summary;
  summary.name = name;
  summary.producer = graph.producer;
  summary.fixed_batch = batch_symbol(graph).empty();
  count_inputs(graph, known, summary);
  if (!summary.inputs.empty() && !summary.inputs[0].shape.sizes.empty())
    summary.batch = std::max<std::int64_t>(summary.inputs[0].shape.sizes[0], 1);
  for (const auto& output : graph.outputs)
    if (output.kind == OutputKind::kUser)
      for (const auto& value : tensors_in(output.value))
        summary.outputs.push_back({value, known.tensors.at(value)});

  std::map<std::string, std::int64_t> unread;
  for (const auto* input : graph.inputs_of(InputKind::kParameter))
    unread[input->value] = element_count(known.tensors.at(input->value).sizes);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    NodeRow row;
    const auto made = values_made(node);
    const OpName op = op_name(node.op);
    row.name = made.empty() ? std::string(op.name) : made.front();
    row.op = std::string(op.spelled);
    row.module = node.module;
    row.source = node.source;
    for (const auto& value : made)
      if (const auto shape = known.tensors.find(value);
          shape != known.tensors.end())
        row.results.push_back({value, shape->second});
    for (const auto& value : values_read(node))
      if (const auto found = unread.find(value); found != unread.end()) {
        row.parameters += found->second;
        unread.erase(found);
      }
    row.cost = cost[i];
    row.made_bytes = memory.made_bytes[i];
    row.saved_bytes = memory.saved_bytes[i];
    summary.cost += row.cost;
    summary.nodes.push_back(std::move(row));
  }
  for (const auto& [value, count] : unread)
    summary.unused += count;
  summary.input_bytes = memory.input_bytes;
  summary.activation_bytes = memory.activation_bytes;
  summary.saved_bytes = memory.total_saved_bytes;
  summary.eval_peak = memory.eval;
  summary.train_peak = memory.train;
  return summary;
}

std::vector<ModuleRow> by_module(const Summary& summary, int depth) {
  std::vector<ModuleRow> rows;
  std::map<std::string, std::size_t> place;
  for (const auto& node : summary.nodes) {
    const std::string path = first_names(node.module, depth);
    const auto [found, fresh] = place.emplace(path, rows.size());
    if (fresh) {
      rows.emplace_back();
      rows.back().path = path;
    }
    ModuleRow& row = rows[found->second];
    if (telling(node.op) &&
        std::find(row.ops.begin(), row.ops.end(), node.op) == row.ops.end())
      row.ops.push_back(node.op);
    if (!node.results.empty() && node.op != "add_")
      row.output = node.results.front().shape;
    row.parameters += node.parameters;
    row.cost += node.cost;
    row.made_bytes += node.made_bytes;
    row.saved_bytes += node.saved_bytes;
  }
  for (auto& row : rows)
    if (row.ops.empty()) row.ops = all_ops(summary, row.path, depth);
  return rows;
}

int readable_depth(const Summary& summary) {
  constexpr std::size_t kScreen = 32;
  int depth = 1;
  std::size_t before = by_module(summary, depth).size();
  for (int next = 2; next <= 16; ++next) {
    const std::size_t rows = by_module(summary, next).size();
    if (rows > kScreen) break;
    if (rows > before) depth = next;
    before = std::max(before, rows);
  }
  return depth;
}

} // namespace temper::graph
