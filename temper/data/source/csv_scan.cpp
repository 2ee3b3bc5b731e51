#include "temper/data/source/csv_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/format/decimal.h"

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
    const OpenOptions& options) {
  TargetChoice found;
  found.column = scan.columns.size() - 1;
  std::string wanted = options.target;
  if (options.schema != nullptr) {
    found.wanted = options.schema->target == Target::label ? Wanted::a_class
                                                           : Wanted::a_number;
    wanted = options.schema->target_name;
  }
  const auto names = names_of(scan);
  const auto ends = [&](std::string_view ending) {
    return std::count(names.begin(), names.end(), wanted) == 0 &&
        wanted.ends_with(ending);
  };
  for (const auto& [ending, meaning] :
       {std::pair{":class", Wanted::a_class},
        std::pair{":number", Wanted::a_number}})
    if (options.schema == nullptr && ends(ending)) {
      wanted.resize(wanted.size() - std::string_view(ending).size());
      found.wanted = meaning;
      break;
    }
  if (options.schema == nullptr && scan.twice.contains(wanted))
    throw Error(
        cat("[data] which '", wanted, "' in ", name, "? It has two."),
        "Give the columns different names.");
  if (!wanted.empty()) found.column = find_column(scan, wanted, name);
  return found;
}

// A second 'x' is 'x.1': columns are found again by their names, by validation
// and by every resume.
void tell_apart(CsvScan& scan, const std::string& name) {
  std::set<std::string> used;
  for (const auto& column : scan.columns)
    used.insert(column.name);
  if (used.size() == scan.columns.size()) return;
  std::set<std::string> met;
  std::map<std::string, int> times;
  std::vector<std::string> renamed;
  for (auto& column : scan.columns) {
    if (met.insert(column.name).second) continue;
    scan.twice.insert(column.name);
    std::string unlike;
    do
      unlike = cat(column.name, ".", ++times[column.name]);
    while (!used.insert(unlike).second);
    column.name = unlike;
    renamed.push_back(cat("'", unlike, "'"));
  }
  constexpr std::size_t kShown = 5;
  const std::size_t more = renamed.size() - std::min(renamed.size(), kShown);
  renamed.resize(renamed.size() - more);
  scan.notes.push_back(
      cat(name,
          " has columns of the same name: the later ones are called ",
          join(renamed, ", "),
          more > 0 ? cat(" and so on, ", more, " more") : ""));
}

// The names, from the first row or made up; whether that row is a header.
void name_columns(
    CsvScan& scan,
    const std::vector<std::string_view>& fields,
    const std::string& name) {
  scan.header = std::none_of(fields.begin(), fields.end(), [&](auto field) {
    return parse_number(field, scan.decimal).has_value();
  });
  scan.columns.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    scan.columns[i].name = scan.header && !fields[i].empty()
        ? std::string(fields[i])
        : cat("column ", i + 1);
  if (!scan.header)
    scan.notes.push_back(
        cat(name,
            " has no header: its columns are called column 1 to column ",
            fields.size()));
  tell_apart(scan, name);
}

void look_at_text(
    CsvColumnScan& column,
    std::string_view field,
    std::int64_t line) {
  if (column.date_forms != 0) {
    // A column that began with plain numbers holds no dates.
    column.date_forms = column.numbers > 0
        ? std::uint8_t{0}
        : static_cast<std::uint8_t>(column.date_forms & date_forms(field));
    if (column.date_forms == 0) column.first_no_date_line = line;
  }
  if (column.text) return;
  column.text = true;
  column.first_text_line = line;
  column.first_text = std::string(field.substr(0, 40));
}

void look_at_number(CsvColumnScan& column, double number, bool is_target) {
  if (column.text && column.date_forms != 0) column.date_forms = 0;
  column.whole = column.whole && std::floor(number) == number &&
      std::abs(number) <= kLargestWhole;
  column.ascending =
      column.ascending && (column.numbers == 0 || number > column.high);
  ++column.numbers;
  column.low = std::min(column.low, number);
  column.high = std::max(column.high, number);
  if (is_target && column.whole && column.values.size() <= kMostIntegerClasses)
    column.values.insert(static_cast<std::int64_t>(number));
}

void look_at_field(
    CsvScan& scan,
    std::size_t at,
    std::string_view field,
    const std::string& name,
    std::int64_t line) {
  CsvColumnScan& column = scan.columns[at];
  const bool is_target = at == scan.target;
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
  if (column.words.size() <= kMostCategories)
    column.words.insert(std::string(field));
  // Text stays text, and needs no second look.
  if (column.text && column.date_forms == 0) return;
  const auto number = parse_number(field, scan.decimal);
  if (!number) {
    look_at_text(column, field, line);
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
  look_at_number(column, *number, is_target);
}

// A comma where no point is: "1,5". Only looked for where the comma does not
// stand between columns. Points that may stand between thousands, 1.234, are
// what they are in training.
char detect_decimal(
    std::string_view text,
    char delimiter,
    const std::string& name,
    const Schema* schema) {
  constexpr int kRows = 1000;
  if (delimiter == ',') return '.';
  CsvReader reader(text, delimiter, name);
  std::vector<std::string_view> fields;
  std::int64_t commas = 0;
  std::int64_t points = 0;
  std::int64_t thousands = 0;
  for (int row = 0; row < kRows && reader.next(fields); ++row)
    for (const std::string_view field : fields) {
      if (contains(field, ","))
        commas += parse_number(field, ',') ? 1 : 0;
      else if (contains(field, ".") && parse_decimal(field)) {
        ++points;
        thousands += parse_number(field, ',') ? 1 : 0;
      }
    }
  if (schema != nullptr && schema->decimal == "," && thousands == points)
    return ',';
  return commas > 0 && points == 0 ? ',' : '.';
}

bool decide_class(CsvScan& scan, Wanted wanted, const std::string& name) {
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
    scan.notes.push_back(
        cat("the target '",
            column.name,
            "' is taken for a ",
            is_class ? "class" : "number",
            "; name it '",
            column.name,
            is_class ? ":number" : ":class",
            "' if it is not"));
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

std::optional<double> parse_number(std::string_view field, char decimal) {
  if (decimal == '.') return parse_decimal(field);
  // Points stand between thousands, if anywhere: 1.234,5.
  constexpr std::size_t kLongest = 40;
  const auto comma = field.find(',');
  const std::string_view whole = field.substr(0, comma);
  if (field.size() > kLongest) return std::nullopt;
  std::string plain;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] != '.') {
      plain += whole[i];
      continue;
    }
    const std::size_t behind = whole.size() - i;
    if (i == 0 || behind % 4 != 0) return std::nullopt;
  }
  if (comma != std::string_view::npos) {
    plain += '.';
    plain += field.substr(comma + 1);
    if (contains(field.substr(comma + 1), ".")) return std::nullopt;
  }
  return parse_decimal(plain);
}

std::size_t find_column(
    const CsvScan& scan,
    const std::string& wanted,
    const std::string& name) {
  const auto names = names_of(scan);
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
  return static_cast<std::size_t>(at - names.begin());
}

CsvScan scan_csv(
    std::string_view text,
    const std::string& name,
    const OpenOptions& options) {
  CsvScan scan;
  scan.delimiter = detect_delimiter(text);
  const std::string& decimal = options.table.decimal;
  scan.decimal = decimal == "," || decimal == "."
      ? decimal[0]
      : detect_decimal(text, scan.delimiter, name, options.schema.get());
  if (scan.decimal == ',' && decimal == "auto")
    scan.notes.push_back(cat("numbers of ", name, " have a decimal comma"));
  CsvReader reader(text, scan.delimiter, name);
  std::vector<std::string_view> fields;
  if (!reader.next(fields)) throw Error(cat("[data] ", name, " is empty."));
  name_columns(scan, fields, name);
  if (fields.size() < 2)
    throw Error(
        cat("[data] ", name, " has one column: no features to learn from."),
        "Separate columns by commas, semicolons or tabs.");
  const TargetChoice wanted = find_target(scan, name, options);
  scan.target = wanted.column;
  if (scan.header && !reader.next(fields))
    throw Error(cat("[data] ", name, " has a header and no rows."));
  do {
    require_fields(scan, name, reader.line(), fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i)
      look_at_field(scan, i, fields[i], name, reader.line());
    ++scan.rows;
  } while (reader.next(fields));
  scan.target_is_class = decide_class(scan, wanted.wanted, name);
  return scan;
}

} // namespace temper::data
