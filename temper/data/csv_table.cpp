#include "temper/data/csv_table.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/mapped_file.h"
#include "temper/base/text.h"
#include "temper/data/csv_scan.h"
#include "temper/data/decimal.h"

namespace temper::data {
namespace {

// The categories of one column, numbered as they come.
class Categories {
 public:
  std::size_t number(std::string_view text) {
    key_.assign(text);
    return numbers_.emplace(key_, numbers_.size()).first->second;
  }
  std::size_t size() const {
    return numbers_.size();
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

[[noreturn]] void refuse_categories(
    const CsvColumnScan& column,
    const std::string& name,
    bool is_target) {
  if (is_target)
    throw Error(
        cat("[data] the target '",
            column.name,
            "' of ",
            name,
            " has more than ",
            count_text(kMostClasses),
            " classes."),
        "Name another target column.");
  throw Error(
      cat("[data] column '",
          column.name,
          "' of ",
          name,
          " is text of more than ",
          kMostCategories,
          " values: line ",
          column.first_text_line,
          " says '",
          column.first_text,
          "'."),
      "Remove the column if it is a name or a number's misprint; else give "
      "it fewer values, or numbers.");
}

void say_what_was_filled(const CsvTable& table, const std::string& name) {
  std::int64_t values = 0;
  std::int64_t columns = 0;
  for (const CsvColumn& column : table.columns) {
    values += column.missing;
    columns += column.missing > 0 ? 1 : 0;
  }
  if (values > 0)
    log::note(
        cat("[data] ",
            name,
            ": ",
            plural(values, "missing value"),
            " in ",
            plural(columns, "column"),
            " became the column's mean, or no category."));
}

} // namespace

CsvTable read_csv(
    const std::filesystem::path& path,
    const std::string& target) {
  const MappedFile file(path);
  const std::string name = path.string();
  const std::string_view text = csv_text(
      {reinterpret_cast<const char*>(file.bytes().data()), file.size()}, name);
  const CsvScan scan = scan_csv(text, name, target);

  CsvTable table;
  table.target = scan.target;
  table.rows = scan.rows;
  for (const CsvColumnScan& column : scan.columns)
    table.columns.push_back(
        {column.name,
         column.text,
         {},
         column.numbers > 0 ? column.sum / static_cast<double>(column.numbers)
                            : 0.0,
         column.missing});
  table.columns[scan.target].text = scan.target_is_class;
  const bool whole_classes =
      scan.target_is_class && !scan.columns[scan.target].text;

  const std::size_t width = table.columns.size();
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
    for (std::size_t i = 0; i < width; ++i, ++cell) {
      const CsvColumn& column = table.columns[i];
      if (!column.text) {
        const auto number = parse_decimal(fields[i]);
        *cell = static_cast<float>(number.value_or(column.mean));
      } else if (is_missing(fields[i])) {
        *cell = -1;
      } else {
        // "1", "01" and "1.0" are one class.
        const auto number = static_cast<std::int64_t>(
            i == scan.target && whole_classes
                ? categories[i].number(std::to_string(static_cast<std::int64_t>(
                      parse_decimal(fields[i]).value_or(0))))
                : categories[i].number(fields[i]));
        if (number >= (i == scan.target ? kMostClasses : kMostCategories))
          refuse_categories(scan.columns[i], name, i == scan.target);
        *cell = static_cast<float>(number);
      }
    }
  }
  for (std::size_t i = 0; i < width; ++i) {
    if (!table.columns[i].text) continue;
    std::vector<float> ranks;
    table.columns[i].categories = categories[i].sorted(ranks);
    for (std::size_t at = i; at < table.cells.size(); at += width)
      if (table.cells[at] >= 0)
        table.cells[at] = ranks[static_cast<std::size_t>(table.cells[at])];
  }
  say_what_was_filled(table, name);
  return table;
}

} // namespace temper::data
