#include "temper/data/inspect/columns_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "temper/base/text.h"

namespace temper::data {
namespace {

constexpr std::size_t kLongestName = 24;
constexpr std::size_t kLongestValues = 36;
constexpr std::size_t kMostColumns = 60; // that are shown

// Five digits, and of numbers up to ten million all before the point: 152758.
std::string number_text(double value) {
  constexpr double kWhole = 1e4;
  constexpr double kMost = 1e7;
  const double size = std::fabs(value);
  std::array<char, 32> text{};
  std::snprintf(
      text.data(),
      text.size(),
      size >= kWhole && size < kMost ? "%.0f" : "%.5g",
      value);
  return text.data();
}

// From days since 1970-01-01.
std::string date_text(double days) {
  using std::chrono::sys_days;
  const std::chrono::year_month_day date{
      sys_days{std::chrono::days{std::lround(days)}}};
  std::array<char, 32> text{};
  std::snprintf(
      text.data(),
      text.size(),
      "%04d-%02u-%02u",
      static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()));
  return text.data();
}

std::string value_text(const Column& column, double value) {
  return column.kind == ColumnKind::date ? date_text(value)
                                         : number_text(value);
}

bool goes_on(char byte) { // a letter of several bytes
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The columns that the text takes on a screen: bytes that go on with a letter
// take none.
std::size_t letters(const std::string& text) {
  return text.size() -
      static_cast<std::size_t>(
             std::count_if(text.begin(), text.end(), goes_on));
}

// At most so many letters of it.
std::string cut(const std::string& text, std::size_t columns) {
  if (letters(text) <= columns) return text;
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end)
    if (!goes_on(text[end]) && ++kept == columns) break;
  return text.substr(0, end) + "~";
}

using Line = std::array<std::string, 5>;

Line line_of(const Column& column) {
  Line line;
  line[0] = cut(column.name, kLongestName);
  line[1] = to_string(column.kind);
  if (column.missing > 0) line[4] = count_text(column.missing);
  if (column.kind == ColumnKind::category) {
    const auto count = static_cast<std::int64_t>(column.categories.size());
    line[2] =
        cut(cat(count_text(count), ": ", join(column.categories, ", ")),
            kLongestValues);
    return line;
  }
  line[2] = cat(
      value_text(column, column.low), " to ", value_text(column, column.high));
  line[3] = value_text(column, column.fill);
  return line;
}

std::string target_text(const Schema& schema) {
  if (schema.target_name.empty()) return "";
  const std::string name =
      cat("Target: ", cut(schema.target_name, kLongestName));
  if (schema.target == Target::label)
    return cat(name, ", one of ", schema.classes.size(), " classes\n");
  if (schema.target_mean.empty()) return cat(name, ", a number\n");
  return cat(
      name,
      ", a number: mean ",
      number_text(schema.target_mean[0]),
      ", standard deviation ",
      number_text(schema.target_deviation[0]),
      "\n");
}

} // namespace

std::string columns_text(const Schema& schema, int width) {
  if (schema.columns.empty()) return "";
  std::vector<Line> lines{{"column", "type", "values", "mean", "missing"}};
  for (const Column& column : schema.columns)
    if (lines.size() <= kMostColumns) lines.push_back(line_of(column));
  std::array<std::size_t, std::tuple_size_v<Line>> widths{};
  for (const Line& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], letters(line[i]));
  const auto columns = static_cast<std::size_t>(std::max(width, 40));
  std::string text = "Columns of train:\n";
  for (const Line& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(widths[i] - letters(line[i]), ' ');
      const bool right = i + 1 == line.size(); // numbers of values
      row += cat("  ", right ? blanks : line[i], right ? line[i] : blanks);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += cut(row, columns) + "\n";
  }
  if (schema.columns.size() > kMostColumns)
    text +=
        cat("  and ", schema.columns.size() - kMostColumns, " more columns\n");
  if (!schema.left_out.empty())
    text += cut(cat("Left out: ", join(schema.left_out, ", ")), columns) + "\n";
  return text + target_text(schema);
}

} // namespace temper::data
