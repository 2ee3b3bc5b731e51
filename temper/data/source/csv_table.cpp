#include "temper/data/source/csv_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "temper/base/error.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/text.h"
#include "temper/data/source/csv_scan.h"

namespace temper::data {
namespace {

// One-hot inputs of a column that data.columns says to be a category.
constexpr std::size_t kMostAskedCategories = 4096;

// The categories of one column, numbered as they come.
class Categories {
 public:
  std::size_t number(std::string_view text) {
    key_.assign(text);
    return numbers_.emplace(key_, numbers_.size()).first->second;
  }
  // Sorted, whole numbers by value; `ranks` turns a number into its place.
  std::vector<std::string> sorted(std::vector<float>& ranks) const {
    std::vector<std::string> names(numbers_.size());
    for (const auto& [name, number] : numbers_)
      names[number] = name;
    std::vector<std::size_t> order(names.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool numeric =
        std::all_of(names.begin(), names.end(), [](const std::string& name) {
          return parse_int(name).has_value();
        });
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return numeric ? parse_int(names[a]) < parse_int(names[b])
                     : names[a] < names[b];
    });
    std::vector<std::string> result;
    ranks.resize(names.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      ranks[order[rank]] = static_cast<float>(rank);
      result.push_back(names[order[rank]]);
    }
    return result;
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::string key_;
};

// Where a column of the table comes from.
struct Origin {
  std::size_t field = 0; // its place in a row of the file
  DateForm form = DateForm::year_first; // of dates
  bool whole_classes = false; // "1", "01" and "1.0" are one class
  std::size_t most = kMostCategories; // categories
};

struct Plan {
  CsvTable table; // without rows
  std::vector<Origin> origins; // of its columns; the target's is last
};

[[noreturn]] void refuse_kind(
    const CsvColumnScan& column,
    const std::string& name,
    ColumnKind kind) {
  const bool date = kind == ColumnKind::date;
  throw Error(
      cat("[data] column '",
          column.name,
          "' of ",
          name,
          " cannot be a ",
          to_string(kind),
          ": line ",
          date ? column.first_no_date_line : column.first_text_line,
          date || column.first_text.empty()
              ? " holds something else"
              : cat(" says '", column.first_text, "'"),
          "."),
      "Correct the value, or see data.columns.");
}

// The kind of a column by its values alone.
ColumnKind guessed_kind(const CsvColumnScan& column) {
  if (!column.text) return ColumnKind::number;
  return column.date_forms != 0 ? ColumnKind::date : ColumnKind::category;
}

ColumnKind kind_of_word(const std::string& word) {
  for (const ColumnKind kind :
       {ColumnKind::number, ColumnKind::category, ColumnKind::date})
    if (word == to_string(kind)) return kind;
  throw Error(
      cat("[data] a column cannot be a '", word, "'."),
      "Columns are number, category or date.");
}

// The form in which a column's dates are read. Where all of them fit several,
// the schema decides: 03/04/2024 of validation is the day that it is in
// training.
DateForm form_of(
    Plan& plan,
    const CsvColumnScan& column,
    const std::string& name,
    const std::string& training) {
  const DateForm preferred =
      preferred_form(column.date_forms).value_or(DateForm::year_first);
  const auto known = date_form_of(training);
  if (known && has_form(column.date_forms, *known)) return *known;
  const bool slashes =
      known == DateForm::month_first || known == DateForm::day_first;
  const bool other_order = slashes && column.text &&
      (preferred == DateForm::month_first || preferred == DateForm::day_first);
  if (other_order)
    plan.table.notes.push_back(
        cat("the dates of column '",
            column.name,
            "' are ",
            to_string(preferred),
            " in ",
            name,
            " and ",
            training,
            " in training"));
  const bool either = training.empty() && column.text &&
      has_form(column.date_forms, DateForm::month_first) &&
      has_form(column.date_forms, DateForm::day_first);
  if (either)
    plan.table.notes.push_back(
        cat("the dates of column '",
            column.name,
            "' are taken for month/day/year, and could be day/month/year as "
            "well"));
  return preferred;
}

double centre_of(const CsvColumnScan& column) {
  if (column.numbers == 0) return 0;
  constexpr double kFar = 256; // spreads from zero
  const double spread = column.high - column.low;
  const double low = std::abs(column.low);
  return low >= kFar * spread && low >= kFar ? std::floor(column.low) : 0;
}

void add_column(
    Plan& plan,
    const CsvScan& scan,
    std::size_t field,
    ColumnKind kind,
    const std::string& name,
    bool asked,
    const std::string& training_form = "") {
  const CsvColumnScan& column = scan.columns[field];
  Origin origin;
  origin.field = field;
  if (asked) origin.most = kMostAskedCategories;
  if (kind == ColumnKind::number && column.text)
    refuse_kind(column, name, kind);
  if (kind == ColumnKind::date) {
    const bool empty = !column.text && column.numbers == 0;
    if (!empty && (!column.text || column.date_forms == 0))
      refuse_kind(column, name, kind);
    origin.form = form_of(plan, column, name, training_form);
  }
  CsvColumn made;
  made.name = column.name;
  made.kind = kind;
  if (kind == ColumnKind::number) made.centre = centre_of(column);
  if (kind == ColumnKind::date) {
    made.form = to_string(origin.form);
    made.centre =
        std::floor(parse_date(column.first_text, origin.form).value_or(0));
  }
  plan.table.columns.push_back(std::move(made));
  plan.origins.push_back(origin);
}

void note_identifier(
    Plan& plan,
    const CsvColumnScan& column,
    std::int64_t rows) {
  constexpr std::int64_t kFewest = 20;
  const bool counts = !column.text && column.whole && column.ascending &&
      column.missing == 0 && rows >= kFewest;
  if (!counts) return;
  plan.table.notes.push_back(
      cat("column '",
          column.name,
          "' looks like an identifier (whole numbers that only rise); leave "
          "it out with data.drop = [\"",
          column.name,
          "\"] if it says nothing about the target"));
}

void leave_out(
    Plan& plan,
    const CsvColumnScan& column,
    const std::string& why) {
  plan.table.left_out.push_back(column.name);
  if (!why.empty())
    plan.table.notes.push_back(
        cat("column '", column.name, "' is left out: ", why));
}

void check_names(
    const CsvScan& scan,
    const std::string& name,
    const TableOptions& options) {
  for (const auto& [column, kind] : options.columns)
    find_column(scan, column, name);
  for (const std::string& column : options.drop) {
    const std::size_t at = find_column(scan, column, name);
    if (at == scan.target)
      throw Error(
          cat("[data] '",
              column,
              "' is the target of ",
              name,
              ", and data.drop names it."),
          "Name another target with data.target.");
  }
}

void choose_columns(
    Plan& plan,
    const CsvScan& scan,
    const std::string& name,
    const TableOptions& options) {
  check_names(scan, name, options);
  for (std::size_t i = 0; i < scan.columns.size(); ++i) {
    if (i == scan.target) continue;
    const CsvColumnScan& column = scan.columns[i];
    if (std::find(options.drop.begin(), options.drop.end(), column.name) !=
        options.drop.end()) {
      leave_out(plan, column, "");
      continue;
    }
    const auto asked = options.columns.find(column.name);
    const bool is_asked = asked != options.columns.end();
    const ColumnKind kind =
        is_asked ? kind_of_word(asked->second) : guessed_kind(column);
    if (!is_asked && kind == ColumnKind::category &&
        column.words.size() > kMostCategories) {
      leave_out(
          plan,
          column,
          cat("it is text of more than ",
              kMostCategories,
              " values (line ",
              column.first_text_line,
              " says '",
              column.first_text,
              "'); data.columns = {",
              column.name,
              " = \"category\"} keeps it"));
      continue;
    }
    if (!is_asked) note_identifier(plan, column, scan.rows);
    add_column(plan, scan, i, kind, name, is_asked);
  }
}

// The schema's columns, by name. What else there is was never an input.
void obey(
    Plan& plan,
    const CsvScan& scan,
    const std::string& name,
    const Schema& schema) {
  if (schema.columns.empty())
    throw Error(
        cat("[data] ", name, " is a table, and the training data is not."),
        "Use a source of the same kind as for training.");
  std::vector<std::string> missing;
  for (const Column& column : schema.columns)
    if (std::none_of(
            scan.columns.begin(), scan.columns.end(), [&](const auto& there) {
              return there.name == column.name;
            }))
      missing.push_back(cat("'", column.name, "'"));
  if (!missing.empty()) {
    std::vector<std::string> there;
    for (const CsvColumnScan& column : scan.columns)
      if (there.size() < 20) there.push_back(column.name);
    throw Error(
        cat("[data] ",
            name,
            " lacks ",
            plural(static_cast<std::int64_t>(missing.size()), "column"),
            " that training has: ",
            join(missing, ", "),
            "."),
        cat("Its columns are ", join(there, ", "), "."));
  }
  std::vector<bool> used(scan.columns.size());
  used[scan.target] = true;
  for (const Column& column : schema.columns) {
    const std::size_t at = find_column(scan, column.name, name);
    used[at] = true;
    add_column(plan, scan, at, column.kind, name, true, column.form);
  }
  std::vector<std::string> extra;
  for (std::size_t i = 0; i < scan.columns.size(); ++i) {
    if (used[i]) continue;
    const std::string& column = scan.columns[i].name;
    plan.table.left_out.push_back(column);
    if (std::find(schema.left_out.begin(), schema.left_out.end(), column) ==
        schema.left_out.end())
      extra.push_back(cat("'", column, "'"));
  }
  if (!extra.empty())
    plan.table.notes.push_back(
        cat("columns that training lacks are left out: ", join(extra, ", ")));
}

Plan plan_columns(
    const CsvScan& scan,
    const std::string& name,
    const OpenOptions& options) {
  Plan plan;
  plan.table.rows = scan.rows;
  plan.table.notes = scan.notes;
  plan.table.decimal = scan.decimal;
  if (options.schema != nullptr)
    obey(plan, scan, name, *options.schema);
  else
    choose_columns(plan, scan, name, options.table);
  if (plan.table.columns.empty())
    throw Error(
        cat("[data] ", name, " has no column to learn from."),
        plan.table.notes.empty() ? "See data.drop."
                                 : cat(plan.table.notes.back(), "."));
  const CsvColumnScan& answer = scan.columns[scan.target];
  CsvColumn& target = plan.table.target;
  target.name = answer.name;
  if (scan.target_is_class)
    target.kind = ColumnKind::category;
  else
    target.centre = centre_of(answer);
  Origin origin;
  origin.field = scan.target;
  origin.whole_classes = scan.target_is_class && !answer.text;
  origin.most = static_cast<std::size_t>(kMostClasses);
  plan.origins.push_back(origin);
  return plan;
}

[[noreturn]] void refuse_categories(
    const CsvColumn& column,
    const std::string& name,
    const Origin& origin) {
  throw Error(
      cat("[data] '",
          column.name,
          "' of ",
          name,
          " has more than ",
          count_text(static_cast<std::int64_t>(origin.most)),
          " different values."),
      "Leave the column out with data.drop, or name another target.");
}

// One cell as the table keeps it.
float cell_of(
    std::string_view field,
    const CsvColumn& column,
    const Origin& origin,
    Categories& categories,
    const CsvScan& scan,
    const std::string& name) {
  constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
  switch (column.kind) {
    case ColumnKind::number: {
      const auto number = parse_number(field, scan.decimal);
      return number ? static_cast<float>(*number - column.centre) : kNothing;
    }
    case ColumnKind::date: {
      const auto days = parse_date(field, origin.form);
      return days ? static_cast<float>(*days - column.centre) : kNothing;
    }
    case ColumnKind::category:
      break;
  }
  if (is_missing(field)) return -1;
  const std::size_t number = origin.whole_classes
      ? categories.number(std::to_string(static_cast<std::int64_t>(
            parse_number(field, scan.decimal).value_or(0))))
      : categories.number(field);
  if (number >= origin.most) refuse_categories(column, name, origin);
  return static_cast<float>(number);
}

void fill_columns(
    Plan& plan,
    const CsvScan& scan,
    std::string_view text,
    const std::string& name) {
  CsvTable& table = plan.table;
  const std::size_t width = table.width();
  const auto column_at = [&](std::size_t i) -> CsvColumn& {
    return i < table.columns.size() ? table.columns[i] : table.target;
  };
  // Every cell has a delimiter or a line end in the file, which bounds this by
  // four times the file; a column of numbers is mostly below one.
  table.cells.resize(static_cast<std::size_t>(scan.rows) * width);
  std::vector<Categories> categories(width);
  CsvReader reader(text, scan.delimiter, name);
  std::vector<std::string_view> fields;
  if (scan.header) reader.next(fields);
  float* cell = table.cells.data();
  for (std::int64_t row = 0; row < scan.rows && reader.next(fields); ++row) {
    // Again, should somebody write to the file meanwhile.
    require_fields(scan, name, reader.line(), fields.size());
    for (std::size_t i = 0; i < width; ++i)
      *cell++ = cell_of(
          fields[plan.origins[i].field],
          column_at(i),
          plan.origins[i],
          categories[i],
          scan,
          name);
  }
  for (std::size_t i = 0; i < width; ++i) {
    if (column_at(i).kind != ColumnKind::category) continue;
    std::vector<float> ranks;
    column_at(i).categories = categories[i].sorted(ranks);
    for (std::size_t at = i; at < table.cells.size(); at += width)
      if (table.cells[at] >= 0)
        table.cells[at] = ranks[static_cast<std::size_t>(table.cells[at])];
  }
}

} // namespace

CsvTable read_csv(
    const std::filesystem::path& path,
    const OpenOptions& options) {
  const MappedFile file(path);
  const std::string name = path.string();
  std::string recoded;
  const std::string_view text = csv_text(
      {reinterpret_cast<const char*>(file.bytes().data()), file.size()},
      name,
      recoded);
  CsvScan scan = scan_csv(text, name, options);
  if (!recoded.empty())
    scan.notes.push_back(
        cat(name, " is not UTF-8 and is read as Windows-1252 (Latin-1)"));
  Plan plan = plan_columns(scan, name, options);
  fill_columns(plan, scan, text, name);
  return std::move(plan.table);
}

} // namespace temper::data
