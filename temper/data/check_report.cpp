#include "temper/data/check_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"

namespace temper::data {
namespace {

using Json = nlohmann::ordered_json;

// Cut in the middle of nothing: a byte that continues a UTF-8 letter goes with
// its first one.
std::string shortened(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) return text;
  std::size_t end = columns - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "~";
}

std::string padded(const std::string& text, std::size_t columns, bool right) {
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

std::string
class_part(const DataReport& report, const PartReport& part, int width) {
  const auto& counts = part.class_counts;
  if (counts.empty()) return "";
  std::vector<HistogramRow> rows;
  for (std::size_t label = 0; label < counts.size(); ++label)
    rows.push_back({class_name(report, label), counts[label]});
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  std::string text = cat("Classes of ", part.name, " (");
  text += *least == 0
      ? "some are empty"
      : cat("largest : smallest = ",
            decimals(
                static_cast<double>(*most) / static_cast<double>(*least), 2));
  return text + "):\n" + histogram(rows, width) + "\n";
}

std::string duplicates_part(const DataReport& report) {
  if (report.duplicate_samples == 0) return "No two samples are the same.\n";
  std::string text =
      cat(plural(report.duplicate_samples, "sample"),
          " more than once, ",
          count_text(report.leaked_samples),
          " of val known from train, ",
          plural(report.contradictions, "group"),
          " with labels that differ:\n");
  for (const auto& group : report.duplicates) {
    text += cat("  ", join(group.samples, " = "));
    const auto more =
        group.count - static_cast<std::int64_t>(group.samples.size());
    if (more > 0) text += cat(" and ", count_text(more), " more");
    text += group.labels_differ ? " (labels differ)\n" : "\n";
  }
  return text;
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
  for (const auto& row : rows) {
    names = std::max(names, row.name.size());
    numbers = std::max(numbers, count_text(row.count).size());
    largest = std::max(largest, row.count);
  }
  names = std::min<std::size_t>(names, 28);
  const auto columns = static_cast<std::size_t>(std::max(width, 40));
  const std::size_t bar = columns - names - numbers - 6;
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
            padded(shortened(rows[i].name, names), names, false),
            "  ",
            padded(count_text(rows[i].count), numbers, true),
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
  for (const auto& part : report.parts) {
    if (!part.sizes.empty())
      text +=
          cat("Sizes in ",
              part.name,
              ":\n",
              histogram(by_count(part.sizes), width, 12),
              "\n");
    text += class_part(report, part, width);
    if (part.decoder_warnings > 0)
      text +=
          cat("Decoder warnings in ",
              part.name,
              ": ",
              count_text(part.decoder_warnings),
              " (the files were read all the same)\n\n");
  }
  text += duplicates_part(report);
  if (report.bad() == 0) return text + "Every sample can be used.\n";
  text += cat("\n", plural(report.bad(), "sample"), " cannot be used:\n");
  for (const auto& reason : report.bad_samples)
    text += cat("  ", reason, "\n");
  const auto more =
      report.bad() - static_cast<std::int64_t>(report.bad_samples.size());
  if (more > 0) text += cat("  and ", count_text(more), " more\n");
  return text +
      "Remove or mend them, or run with data.bad = \"skip\" or \"replace\".\n";
}

std::string to_json(const DataReport& report) {
  Json json{
      {"schema", 1},
      {"source", report.name},
      {"problems", report.has_problems()},
      {"classes", report.classes}};
  for (const auto& part : report.parts)
    json["parts"].push_back(
        {{"name", part.name},
         {"samples", part.samples},
         {"bad", part.bad},
         {"decoder_warnings", part.decoder_warnings},
         {"sizes", part.sizes},
         {"class_counts", part.class_counts}});
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

} // namespace temper::data
