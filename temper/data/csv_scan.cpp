#include "temper/data/csv_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/decimal.h"

namespace temper::data {
namespace {

constexpr auto kLargestFloat =
    static_cast<double>(std::numeric_limits<float>::max());
constexpr double kLargestWhole = 9007199254740992.0; // 2^53

enum class Wanted { unsaid, a_class, a_number };

struct TargetChoice {
  std::size_t column = 0;
  Wanted wanted = Wanted::unsaid;
};

std::vector<std::string> names_of(const CsvScan& scan) {
  std::vector<std::string> names;
  for (const auto& column : scan.columns)
    names.push_back(column.name);
  return names;
}

TargetChoice find_target(
    const CsvScan& scan,
    const std::string& name,
    const std::string& target) {
  TargetChoice found;
  found.column = scan.columns.size() - 1;
  std::string wanted = target;
  const auto names = names_of(scan);
  const auto ends = [&](std::string_view ending) {
    return std::count(names.begin(), names.end(), wanted) == 0 &&
        wanted.size() >= ending.size() &&
        wanted.compare(wanted.size() - ending.size(), ending.size(), ending) ==
        0;
  };
  for (const auto& [ending, meaning] :
       {std::pair{":class", Wanted::a_class},
        std::pair{":number", Wanted::a_number}})
    if (ends(ending)) {
      wanted.resize(wanted.size() - std::string_view(ending).size());
      found.wanted = meaning;
      break;
    }
  if (wanted.empty()) return found;
  const auto at = std::find(names.begin(), names.end(), wanted);
  if (at == names.end()) {
    const auto close = nearest(wanted, names);
    std::vector<std::string> some = names;
    some.resize(std::min<std::size_t>(some.size(), 20));
    throw Error(
        cat("[data] no column '", wanted, "' in ", name, "."),
        close ? cat("Did you mean '", *close, "'?")
              : cat("Its columns are ", join(some, ", "), "."));
  }
  if (std::find(at + 1, names.end(), wanted) != names.end())
    throw Error(
        cat("[data] which '", wanted, "' in ", name, "? It has two."),
        "Give the columns different names.");
  found.column = static_cast<std::size_t>(at - names.begin());
  return found;
}

// The names, from the first row or made up; whether that row is a header.
void name_columns(
    CsvScan& scan,
    const std::vector<std::string_view>& fields,
    const std::string& name) {
  scan.header = std::none_of(fields.begin(), fields.end(), [](auto field) {
    return parse_decimal(field).has_value();
  });
  scan.columns.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    scan.columns[i].name = scan.header && !fields[i].empty()
        ? std::string(fields[i])
        : cat("column ", i + 1);
  if (!scan.header)
    log::note(
        cat("[data] ",
            name,
            " has no header; its columns are called column 1 to column ",
            fields.size(),
            "."));
}

void look_at(
    CsvColumnScan& column,
    std::string_view field,
    const std::string& name,
    std::int64_t line,
    bool is_target) {
  if (is_missing(field)) {
    ++column.missing;
    if (!is_target) return;
    throw Error(
        cat("[data] no target in ",
            name,
            " line ",
            line,
            ": column '",
            column.name,
            "' is missing."),
        "Remove the row, or name another target column.");
  }
  // Text stays text, and needs no second look.
  if (column.text) return;
  const auto number = parse_decimal(field);
  if (!number) {
    column.text = true;
    column.first_text_line = line;
    column.first_text = std::string(field.substr(0, 40));
    return;
  }
  if (std::abs(*number) > kLargestFloat)
    throw Error(
        cat("[data] number too large in ",
            name,
            " line ",
            line,
            ", column '",
            column.name,
            "': ",
            field,
            "."));
  ++column.numbers;
  column.sum += *number;
  if (!is_target || !column.whole) return;
  column.whole =
      std::floor(*number) == *number && std::abs(*number) <= kLargestWhole;
  if (column.whole && column.values.size() <= kMostIntegerClasses)
    column.values.insert(static_cast<std::int64_t>(*number));
}

bool decide_class(const CsvScan& scan, Wanted wanted, const std::string& name) {
  const CsvColumnScan& column = scan.columns[scan.target];
  if (wanted == Wanted::a_class) {
    if (column.text || column.whole) return true;
    throw Error(
        cat("[data] column '",
            column.name,
            "' of ",
            name,
            " cannot be a class: it has fractions."));
  }
  if (wanted == Wanted::a_number) {
    if (!column.text) return false;
    throw Error(
        cat("[data] column '",
            column.name,
            "' of ",
            name,
            " cannot be a number: line ",
            column.first_text_line,
            " says '",
            column.first_text,
            "'."));
  }
  if (column.text) return true;
  const bool repeats =
      static_cast<std::int64_t>(2 * column.values.size()) <= scan.rows;
  const bool is_class =
      column.whole && column.values.size() <= kMostIntegerClasses && repeats;
  if (column.whole)
    log::note(
        cat("[data] the target '",
            column.name,
            "' is taken for a ",
            is_class ? "class" : "number",
            "; name it '",
            column.name,
            is_class ? ":number" : ":class",
            "' if it is not."));
  return is_class;
}

} // namespace

void require_fields(
    const CsvScan& scan,
    const std::string& name,
    std::int64_t line,
    std::size_t fields) {
  if (fields == scan.columns.size()) return;
  throw Error(
      cat("[data] cannot read ",
          name,
          " line ",
          line,
          ": it has ",
          plural(static_cast<std::int64_t>(fields), "field"),
          " where the first line has ",
          scan.columns.size(),
          "."),
      "Quote fields that hold the delimiter.");
}

CsvScan scan_csv(
    std::string_view text,
    const std::string& name,
    const std::string& target) {
  CsvScan scan;
  scan.delimiter = detect_delimiter(text);
  CsvReader reader(text, scan.delimiter, name);
  std::vector<std::string_view> fields;
  if (!reader.next(fields)) throw Error(cat("[data] ", name, " is empty."));
  name_columns(scan, fields, name);
  if (fields.size() < 2)
    throw Error(
        cat("[data] ", name, " has one column: no features to learn from."),
        "Separate columns by commas, semicolons or tabs.");
  const TargetChoice wanted = find_target(scan, name, target);
  scan.target = wanted.column;
  if (scan.header && !reader.next(fields))
    throw Error(cat("[data] ", name, " has a header and no rows."));
  do {
    require_fields(scan, name, reader.line(), fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i)
      look_at(
          scan.columns[i], fields[i], name, reader.line(), i == scan.target);
    ++scan.rows;
  } while (reader.next(fields));
  scan.target_is_class = decide_class(scan, wanted.wanted, name);
  return scan;
}

} // namespace temper::data
