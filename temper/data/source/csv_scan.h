// The first pass over a CSV file: names, and what each column holds.
// Private to data/source.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "temper/data/format/csv.h"
#include "temper/data/format/date.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/schema.h"

namespace temper::data {

// Categories of a text column; more of them are not a category but an
// identifier, and one-hot columns by the thousand would fill the memory.
constexpr std::size_t kMostCategories = 64;

struct CsvColumnScan {
  std::string name;
  bool text = false; // some value is not a number
  std::int64_t first_text_line = 0;
  std::string first_text;
  std::int64_t missing = 0;
  std::int64_t numbers = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  // Whole numbers, each larger than the one before.
  bool whole = true;
  bool ascending = true;
  // The forms in which every value is a date, and the first that is in none.
  std::uint8_t date_forms = 0xFF;
  std::int64_t first_no_date_line = 0;
  // Different values, up to kMostCategories + 1 of them.
  std::unordered_set<std::string> words;
  // Different values of the target, up to kMostIntegerClasses + 1 of them.
  std::set<std::int64_t> values;
};

constexpr std::size_t kMostIntegerClasses = 1000;

struct CsvScan {
  char delimiter = ',';
  char decimal = '.';
  bool header = true;
  std::vector<CsvColumnScan> columns;
  std::set<std::string> twice; // names that several columns had
  std::size_t target = 0;
  bool target_is_class = false;
  std::int64_t rows = 0;
  std::vector<std::string> notes; // for people
};

// `name` is for messages, `text` the whole file. A first row with a number in
// it is data: then columns are called "column 1", "column 2", ... The options'
// schema, where there is one, says what the target is.
CsvScan scan_csv(
    std::string_view text,
    const std::string& name,
    const OpenOptions& options);

// A number as the file writes them: "1,5" with a decimal comma.
std::optional<double> parse_number(std::string_view field, char decimal);

// The message of a row with too few or too many fields.
void require_fields(
    const CsvScan& scan,
    const std::string& name,
    std::int64_t line,
    std::size_t fields);

// The place of a column; Error, with the nearest name, when there is none.
std::size_t find_column(
    const CsvScan& scan,
    const std::string& wanted,
    const std::string& name);

} // namespace temper::data
