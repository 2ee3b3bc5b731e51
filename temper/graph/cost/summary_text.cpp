#include <algorithm>
#include <array>

#include "temper/base/text.h"
#include "temper/graph/cost/summary.h"
#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {
namespace {

constexpr std::size_t kGap = 2;

struct Column {
  std::string title;
  bool right = false; // numbers
  // Taken away from when the table is too wide: the larger first; 0 never.
  int gives_way = 0;
  std::size_t least = 0; // below this width it goes altogether
};

using Rows = std::vector<std::vector<std::string>>;

// "features.18.conv.0" -> "...18.conv.0" or "conv2d, batch..."
std::string shortened(const std::string& text, std::size_t width, bool tail) {
  if (text.size() <= width) return text;
  if (width <= 3) return text.substr(0, width);
  return tail ? "..." + text.substr(text.size() - (width - 3))
              : text.substr(0, width - 3) + "...";
}

std::string
table(const std::vector<Column>& columns, const Rows& rows, std::size_t width) {
  std::vector<std::size_t> wide;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t most = columns[c].title.size();
    for (const auto& row : rows)
      most = std::max(most, row[c].size());
    wide.push_back(most);
  }
  const auto total = [&] {
    std::size_t sum = 0;
    for (const auto each : wide)
      sum += each > 0 ? each + kGap : 0;
    return sum;
  };
  for (int turn = 9; turn > 0; --turn)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].gives_way != turn || total() <= width) continue;
      const std::size_t excess = total() - width;
      const bool enough = wide[c] >= excess + columns[c].least;
      wide[c] = enough ? wide[c] - excess : 0;
    }
  std::string text;
  const auto line = [&](const auto& cell) {
    std::string out;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (wide[c] == 0) continue;
      const std::string content =
          shortened(cell(c), wide[c], c == 0 && !columns[c].right);
      const std::string space(wide[c] - content.size(), ' ');
      out += "  ";
      out += columns[c].right ? space + content : content + space;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  line([&](std::size_t c) { return columns[c].title; });
  for (const auto& row : rows)
    line([&](std::size_t c) { return row[c]; });
  return text;
}

// 302310000 -> "302.3 M": decimal, as the literature counts operations.
std::string amount_text(double amount) {
  constexpr std::array<const char*, 5> kUnits{"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  const int digits = unit == 0 ? 0 : amount < 10 ? 2 : 1;
  return decimals(amount, digits) + kUnits[unit];
}

std::string per_sample(std::int64_t amount, const Summary& summary) {
  return amount_text(
      static_cast<double>(amount) / static_cast<double>(summary.batch));
}

std::string size_or_dash(std::int64_t bytes) {
  return bytes == 0 ? "-" : bytes_text(static_cast<std::uint64_t>(bytes));
}

std::string count_or_dash(std::int64_t count) {
  return count == 0 ? "-" : count_text(count);
}

std::string typed(const Shape& shape) {
  return cat(name_of(shape.dtype), " ", sizes_text(shape.sizes));
}

std::string listed(const std::vector<NamedShape>& shapes) {
  std::vector<std::string> texts;
  for (const auto& each : shapes)
    texts.push_back(cat(each.name, " ", typed(each.shape)));
  return join(texts, ", ");
}

// The one name that fills a column by itself.
std::string short_op(const std::string& op) {
  return op == "scaled_dot_product_attention" ? "attention" : op;
}

std::string ops_text(const std::vector<std::string>& ops) {
  std::vector<std::string> names;
  for (const auto& op : ops)
    names.push_back(short_op(op));
  return join(names, ", ");
}

std::string module_table(const Summary& summary, const SummaryStyle& style) {
  const int depth = style.depth > 0 ? style.depth : readable_depth(summary);
  Rows rows;
  for (const auto& row : by_module(summary, depth))
    rows.push_back(
        {row.path.empty() ? "(model)" : row.path,
         ops_text(row.ops),
         sizes_text(row.output.sizes),
         count_or_dash(row.parameters),
         row.cost.macs == 0 ? "-" : per_sample(row.cost.macs, summary),
         size_or_dash(row.made_bytes),
         size_or_dash(row.saved_bytes)});
  return table(
      {{"module", false, 5, 8},
       {"operators", false, 9, 12},
       {"output", false, 6, 8},
       {"parameters", true},
       {"MACs/sample", true, 7, 99},
       {"activations", true, 8, 99},
       {"kept", true}},
      rows,
      static_cast<std::size_t>(style.width));
}

std::string node_table(const Summary& summary, const SummaryStyle& style) {
  Rows rows;
  for (const auto& node : summary.nodes) {
    std::vector<std::string> shapes;
    for (const auto& result : node.results)
      shapes.push_back(sizes_text(result.shape.sizes));
    // The parts of a split look alike.
    const bool alike = shapes.size() > 1 &&
        std::count(shapes.begin(), shapes.end(), shapes[0]) ==
            static_cast<std::ptrdiff_t>(shapes.size());
    rows.push_back(
        {node.name,
         short_op(node.op),
         alike ? cat(shapes.size(), " x ", shapes[0]) : join(shapes, ", "),
         node.cost.macs == 0 ? "-" : per_sample(node.cost.macs, summary),
         size_or_dash(node.made_bytes),
         node.module,
         node.source});
  }
  return table(
      {{"value", false, 6, 10},
       {"operator", false, 5, 10},
       {"result", false, 4, 10},
       {"MACs/sample", true, 8, 99},
       {"activations", true, 9, 99},
       {"module", false, 7, 10},
       {"line", false, 3, 8}},
      rows,
      static_cast<std::size_t>(style.width));
}

std::string where(const Summary& summary, const Peak& peak) {
  if (peak.node >= summary.nodes.size()) return "";
  const NodeRow& node = summary.nodes[peak.node];
  const std::string& place = node.module.empty() ? node.name : node.module;
  return cat(peak.backward ? ", in the backward pass of " : ", in ", place);
}

std::string parameters_text(const Summary& summary) {
  std::string text =
      cat(count_text(summary.parameters),
          " (",
          bytes_text(static_cast<std::uint64_t>(summary.parameter_bytes)),
          ")");
  if (summary.trainable == summary.parameters)
    text += ", all trainable";
  else
    text += cat(", ", count_text(summary.trainable), " of them trainable");
  if (summary.unused > 0)
    text += cat("; ", count_text(summary.unused), " are read by no operator");
  return text;
}

std::string totals(const Summary& summary, std::size_t width) {
  const auto bytes = [](std::int64_t count) {
    return bytes_text(static_cast<std::uint64_t>(count));
  };
  const std::vector<std::pair<std::string, std::string>> lines{
      {"parameters", parameters_text(summary)},
      {"buffers",
       summary.buffers == 0 ? "none"
                            : cat(plural(summary.buffers, "tensor"),
                                  " (",
                                  bytes(summary.buffer_bytes),
                                  ")")},
      {"work",
       cat(per_sample(summary.cost.macs, summary),
           " MACs a sample, ",
           per_sample(summary.cost.flops, summary),
           " FLOPs forward and about ",
           per_sample(summary.cost.backward_flops, summary),
           " backward")},
      {"activations",
       cat(bytes(summary.activation_bytes),
           " made, ",
           bytes(summary.saved_bytes),
           " kept for the backward pass")},
      {"peak, eval",
       cat(bytes(summary.eval_peak.bytes), where(summary, summary.eval_peak))},
      {"peak, train",
       cat(bytes(summary.train_peak.bytes),
           where(summary, summary.train_peak),
           "; beside it ",
           bytes(summary.parameter_bytes),
           " of parameters and ",
           bytes(summary.trainable_bytes),
           " of their gradients")}};
  std::string text;
  constexpr std::size_t kIndent = 15;
  for (const auto& [name, meaning] : lines) {
    std::string line = cat("  ", name);
    line.append(kIndent - line.size(), ' ');
    text += line +
        join(wrap(meaning, std::max<std::size_t>(width - kIndent, 25)),
             "\n" + std::string(kIndent, ' ')) +
        "\n";
  }
  return text;
}

} // namespace

std::string to_text(const Summary& summary, const SummaryStyle& style) {
  const auto width = static_cast<std::size_t>(std::max(style.width, 40));
  std::string head =
      cat(summary.name,
          ": ",
          plural(static_cast<std::int64_t>(summary.nodes.size()), "operator"),
          ", ",
          summary.fixed_batch ? "a fixed batch of " : "batch ",
          summary.batch);
  if (!summary.producer.empty()) head += cat(", made by ", summary.producer);
  return cat(
      join(wrap(head, width), "\n"),
      "\n",
      join(wrap(cat("in ", listed(summary.inputs)), width - 2), "\n  "),
      "\n",
      join(wrap(cat("out ", listed(summary.outputs)), width - 2), "\n  "),
      "\n\n",
      style.nodes ? node_table(summary, style) : module_table(summary, style),
      "\n",
      totals(summary, width));
}

} // namespace temper::graph
