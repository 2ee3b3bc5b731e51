// The first pass over a CSV file: names, and what each column holds.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "temper/data/csv.h"

namespace temper::data {

struct CsvColumnScan {
  std::string name;
  bool text = false;
  std::int64_t first_text_line = 0;
  std::string first_text;
  std::int64_t missing = 0;
  std::int64_t numbers = 0;
  double sum = 0;
  // Of the target only: whether it is whole numbers, and which, up to
  // kMostIntegerClasses + 1 of them.
  bool whole = true;
  std::set<std::int64_t> values;
};

constexpr std::size_t kMostIntegerClasses = 1000;

struct CsvScan {
  char delimiter = ',';
  bool header = true;
  std::vector<CsvColumnScan> columns;
  std::size_t target = 0;
  bool target_is_class = false;
  std::int64_t rows = 0;
};

// `name` is for messages, `text` the whole file. A first row with a number in
// it is data: then columns are called "column 1", "column 2", ...
CsvScan scan_csv(
    std::string_view text,
    const std::string& name,
    const std::string& target);

// The message of a row with too few or too many fields.
void require_fields(
    const CsvScan& scan,
    const std::string& name,
    std::int64_t line,
    std::size_t fields);

} // namespace temper::data
