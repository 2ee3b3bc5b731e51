#include "temper/train/setup/parameter_table.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/choices.h"
#include "temper/graph/ir/weights.h"

namespace temper::train {
namespace {

constexpr std::uint64_t kFloat = 4;

std::string front(const std::string& name, int levels) {
  std::size_t end = 0;
  for (int i = 0; i < levels && end != std::string::npos; ++i)
    end = name.find('.', i == 0 ? 0 : end + 1);
  // A parameter that lies in no module is called by its own name.
  return name.substr(0, end);
}

std::vector<ParameterRow>
rows_at(const graph::Graph& graph, const config::Config& config, int levels) {
  std::vector<ParameterRow> rows;
  for (const graph::Input* input :
       graph.inputs_of(graph::InputKind::kParameter)) {
    std::vector<std::int64_t> sizes;
    for (const graph::Size& size : graph.meta(input->value).sizes)
      sizes.push_back(size.value);
    const std::int64_t count = graph::element_count(sizes);
    const std::string module = front(input->target, levels);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& each) {
      return each.module == module;
    });
    if (row == rows.end()) {
      rows.push_back({module});
      row = rows.end() - 1;
    }
    row->parameters += count;
    if (input->trainable) row->trained += count;
    row->bytes += static_cast<std::uint64_t>(count) *
        bytes_per_parameter(config, input->trainable);
  }
  return rows;
}

} // namespace

std::uint64_t bytes_per_parameter(const config::Config& config, bool trained) {
  if (!trained) return kFloat;
  std::uint64_t bytes = 2 * kFloat; // weight and gradient
  const std::string& name = config.optimizer.name;
  const std::uint64_t moment =
      config::moments_of(config.optimizer) == config::Precision::bf16 ? 2
                                                                      : kFloat;
  if (name == "adam" || name == "adamw")
    bytes += 2 * moment;
  else if (name == "lion")
    bytes += moment;
  else if (name == "sgd")
    bytes += config.optimizer.momentum > 0 ? moment : 0;
  else
    throw Bug("an optimiser whose moments nobody counts: " + name);
  if (config.train.ema > 0) bytes += kFloat;
  return bytes;
}

std::vector<ParameterRow> parameter_table(
    const graph::Graph& graph,
    const config::Config& config) {
  constexpr double kNearlyAll = 0.5;
  auto rows = rows_at(graph, config, 1);
  std::int64_t all = 0;
  std::int64_t largest = 0;
  for (const ParameterRow& row : rows) {
    all += row.parameters;
    largest = std::max(largest, row.parameters);
  }
  const bool one_holds_it =
      static_cast<double>(largest) > kNearlyAll * static_cast<double>(all);
  return one_holds_it ? rows_at(graph, config, 2) : rows;
}

std::string to_text(
    const std::vector<ParameterRow>& table,
    const config::Config& config) {
  ParameterRow total{"all"};
  std::size_t width = total.module.size();
  for (const ParameterRow& row : table) {
    total.parameters += row.parameters;
    total.trained += row.trained;
    total.bytes += row.bytes;
    width = std::max(width, row.module.size());
  }
  const auto pad = [](const std::string& text, std::size_t to) {
    return std::string(to > text.size() ? to - text.size() : 0, ' ');
  };
  std::string out =
      cat("  ", pad("", width), "   parameters      trained     in training\n");
  const auto add = [&](const ParameterRow& row) {
    const std::string parameters = count_text(row.parameters);
    const std::string trained = count_text(row.trained);
    const std::string bytes = bytes_text(row.bytes);
    out += cat("  ", row.module, pad(row.module, width));
    out += cat(pad(parameters, 13), parameters, pad(trained, 13), trained);
    out += cat(pad(bytes, 16), bytes, "\n");
  };
  for (const ParameterRow& row : table)
    add(row);
  if (table.size() > 1) add(total);
  out +=
      cat("  ",
          bytes_per_parameter(config, true),
          " bytes a trained parameter (weight, gradient, ",
          config.optimizer.name,
          config.train.ema > 0 ? ", average" : "",
          "), ",
          bytes_per_parameter(config, false),
          " a frozen one\n");
  return out;
}

} // namespace temper::train
