#include "temper/data/inspect/check_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "temper/base/cut_text.h"
#include "temper/base/text.h"
#include "temper/data/inspect/columns_report.h"

namespace temper::data {
namespace {

using Json = nlohmann::ordered_json;

std::string shortened(const std::string& text, std::size_t columns) {
  return text.size() <= columns ? text : cat(cut_text(text, columns - 1), "~");
}

std::string
justified(const std::string& text, std::size_t columns, bool right) {
  const std::string blanks(
      columns > text.size() ? columns - text.size() : 0, ' ');
  return right ? blanks + text : text + blanks;
}

std::vector<HistogramRow> by_count(
    const std::map<std::string, std::int64_t>& counts) {
  std::vector<HistogramRow> rows;
  for (const auto& [name, count] : counts)
    rows.push_back({name, count});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.count > b.count;
  });
  return rows;
}

std::string class_name(const DataReport& report, std::size_t label) {
  return label < report.classes.size() ? report.classes[label] : cat(label);
}

// " (empty: mouse)", or how uneven they are.
std::string balance_text(
    const DataReport& report,
    const std::vector<std::int64_t>& counts) {
  constexpr std::size_t kNamed = 5;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (*least > 0)
    return *least == *most
        ? cat(" (", count_text(*most), " each)")
        : cat(" (largest : smallest = ",
              decimals(
                  static_cast<double>(*most) / static_cast<double>(*least), 2),
              ")");
  std::vector<std::string> empty;
  std::size_t more = 0;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] > 0) continue;
    if (empty.size() < kNamed)
      empty.push_back(class_name(report, label));
    else
      ++more;
  }
  return cat(
      " (empty: ",
      join(empty, ", "),
      more > 0 ? cat(" and ", more, " more") : "",
      ")");
}

std::string
class_part(const DataReport& report, const PartReport& part, int width) {
  const auto& counts = part.class_counts;
  if (counts.empty()) return "";
  std::vector<HistogramRow> rows;
  for (std::size_t label = 0; label < counts.size(); ++label)
    rows.push_back({class_name(report, label), counts[label]});
  return cat(
      "Classes of ",
      part.name,
      balance_text(report, counts),
      ":\n",
      histogram(rows, width),
      "\n");
}

std::string size_part(const PartReport& part, int width) {
  if (part.sizes.empty()) return "";
  if (part.sizes.size() == 1)
    return cat(
        "Sizes in ", part.name, ": all ", part.sizes.begin()->first, "\n\n");
  return cat(
      "Sizes in ",
      part.name,
      ":\n",
      histogram(by_count(part.sizes), width, 12),
      "\n");
}

std::string none_or(std::int64_t count) {
  return count == 0 ? "none" : count_text(count);
}

std::string duplicates_part(const DataReport& report) {
  if (report.duplicate_samples == 0) return "No duplicates.\n";
  std::vector<std::string> facts;
  if (report.parts.size() > 1)
    facts.push_back(
        cat(none_or(report.leaked_samples), " shared between train and val"));
  if (report.labels)
    facts.push_back(
        cat(none_or(report.contradictions), " with different labels"));
  std::string text =
      cat(plural(report.duplicate_samples, "duplicate"),
          facts.empty() ? "" : "; ",
          join(facts, ", "),
          ":\n");
  for (const auto& group : report.duplicates) {
    text += cat("  ", join(group.samples, " = "));
    const auto more =
        group.count - static_cast<std::int64_t>(group.samples.size());
    if (more > 0) text += cat(" and ", count_text(more), " more");
    text += group.labels_differ ? " (labels differ)\n" : "\n";
  }
  if (report.repetitive)
    text +=
        "The table has few different rows, and each comes many times: equal "
        "rows are no mistake here.\n";
  return text;
}

std::string bad_part(const DataReport& report) {
  if (report.bad() == 0) return "";
  std::string text =
      cat("\n",
          plural(report.bad(), "sample"),
          " cannot be used",
          !report.skips_bad       ? ":\n"
              : report.bad() == 1 ? ", and data.bad leaves it out:\n"
                                  : ", and data.bad leaves them out:\n");
  for (const auto& reason : report.bad_samples)
    text += cat("  ", reason, "\n");
  const auto more =
      report.bad() - static_cast<std::int64_t>(report.bad_samples.size());
  if (more > 0) text += cat("  and ", count_text(more), " more\n");
  if (report.skips_bad) return text;
  return text +
      "Remove or mend them, or run with data.bad = \"skip\" or \"replace\".\n";
}

// The last lines: the reason of the exit code.
std::string verdict_part(const DataReport& report) {
  const auto problems = report.problems();
  if (problems.empty() && report.bad() == 0)
    return "Every sample can be used.\n";
  // Bad samples have been told with their names.
  const std::size_t told = report.bad() > 0 && !report.skips_bad ? 1 : 0;
  std::string text;
  for (std::size_t i = told; i < problems.size(); ++i)
    text += cat("  ", problems[i], "\n");
  if (text.empty()) return "";
  return cat(
      report.bad() == 0 ? "Every sample can be read, but there is a problem:\n"
                        : "And there is another problem:\n",
      text);
}

Json columns_json(const Schema& schema) {
  Json columns = Json::array();
  for (const Column& column : schema.columns) {
    Json json{
        {"name", column.name},
        {"type", to_string(column.kind)},
        {"missing", column.missing}};
    if (column.kind == ColumnKind::category) {
      json["categories"] = column.categories;
    } else {
      json["low"] = column.low;
      json["high"] = column.high;
      json["mean"] = column.mean;
    }
    columns.push_back(std::move(json));
  }
  return columns;
}

} // namespace

std::string
histogram(const std::vector<HistogramRow>& all, int width, std::size_t most) {
  auto rows = all;
  std::size_t left_out = 0;
  if (rows.size() > most) {
    std::stable_sort(
        rows.begin(), rows.end(), [](const auto& a, const auto& b) {
          return a.count > b.count;
        });
    left_out = rows.size() - most;
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(most / 2);
    rows.erase(from, from + static_cast<std::ptrdiff_t>(left_out));
  }
  std::size_t names = 0;
  std::size_t numbers = 0;
  std::int64_t largest = 1;
  std::int64_t smallest = 0; // that is not empty
  for (const auto& row : rows) {
    names = std::max(names, row.name.size());
    numbers = std::max(numbers, count_text(row.count).size());
    largest = std::max(largest, row.count);
    if (row.count > 0 && (smallest == 0 || row.count < smallest))
      smallest = row.count;
  }
  names = std::min<std::size_t>(names, 28);
  constexpr std::size_t kLongestBar = 40;
  const auto columns = static_cast<std::size_t>(std::max(width, 40));
  std::size_t bar = std::min(kLongestBar, columns - names - numbers - 6);
  // Bars of about one length say nothing.
  constexpr double kAlike = 1.1;
  if (rows.size() > 1 && left_out == 0 &&
      static_cast<double>(largest) < kAlike * static_cast<double>(smallest))
    bar = 0;
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (left_out > 0 && i == most / 2)
      text += cat("  ... ", left_out, " in between ...\n");
    const auto length = static_cast<std::size_t>(
        static_cast<double>(rows[i].count) / static_cast<double>(largest) *
            static_cast<double>(bar) +
        0.5);
    text +=
        cat("  ",
            justified(shortened(rows[i].name, names), names, false),
            "  ",
            justified(count_text(rows[i].count), numbers, true),
            length > 0 ? "  " : "",
            std::string(length, '#'),
            "\n");
  }
  return text;
}

std::string to_text(const DataReport& report, int width) {
  std::string text = cat(report.name, ":");
  for (const auto& part : report.parts)
    text +=
        cat(part.name == "train" ? " " : ", ",
            part.name,
            " ",
            plural(part.samples, "sample"));
  if (!report.classes.empty())
    text += cat(", classes: ", report.classes.size());
  text += "\n\n";
  if (report.schema != nullptr)
    if (const std::string columns = columns_text(*report.schema, width);
        !columns.empty())
      text += columns + "\n";
  for (const auto& part : report.parts) {
    text += size_part(part, width);
    text += class_part(report, part, width);
    if (part.decoder_warnings > 0)
      text +=
          cat("Decoder warnings in ",
              part.name,
              ": ",
              count_text(part.decoder_warnings),
              " (the files were read all the same)\n\n");
  }
  return cat(
      text, duplicates_part(report), bad_part(report), verdict_part(report));
}

std::string to_json(const DataReport& report) {
  Json json{
      {"schema", 1},
      {"source", report.name},
      {"problems", report.has_problems()},
      {"reasons", report.problems()},
      {"classes", report.classes}};
  for (const auto& part : report.parts)
    json["parts"].push_back(
        {{"name", part.name},
         {"samples", part.samples},
         {"bad", part.bad},
         {"decoder_warnings", part.decoder_warnings},
         {"sizes", part.sizes},
         {"class_counts", part.class_counts}});
  if (report.schema != nullptr && !report.schema->columns.empty())
    json["columns"] = columns_json(*report.schema);
  json["bad_samples"] = report.bad_samples;
  Json groups = Json::array();
  for (const auto& group : report.duplicates)
    groups.push_back(
        {{"samples", group.samples},
         {"count", group.count},
         {"across_parts", group.across_parts},
         {"labels_differ", group.labels_differ}});
  json["duplicates"] = {
      {"samples", report.duplicate_samples},
      {"leaked", report.leaked_samples},
      {"contradictions", report.contradictions},
      {"groups", groups}};
  // Names of files may be in any encoding.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string classes_text(const IndexedSource& source, int width) {
  const auto& classes = source.info().classes;
  std::vector<HistogramRow> rows;
  for (const auto& name : classes)
    rows.push_back({name, 0});
  for (std::int64_t i = 0; i < source.size(); ++i) {
    const auto label = source.label(i);
    if (!label) return "";
    if (*label >= 0 && static_cast<std::size_t>(*label) < rows.size())
      ++rows[static_cast<std::size_t>(*label)].count;
  }
  if (rows.empty()) return "";
  return cat(
      source.info().name,
      ", ",
      plural(source.size(), "sample"),
      ":\n",
      histogram(rows, width),
      "\n");
}

} // namespace temper::data
