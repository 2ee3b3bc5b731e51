// A CSV file as a table of floats, one per cell, read in two passes over the
// mapped file: the first finds what each column is, the second fills. Cells
// are what the file says, not yet what a model sees: table_schema.h.
//
// A column is numbers when every value in it is one, dates when every value is
// one, else text. Text of more than kMostCategories values is left out and
// noted. data.columns and data.drop have the last word.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "temper/data/sample/open_options.h"
#include "temper/data/sample/schema.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct CsvColumn {
  std::string name;
  ColumnKind kind = ColumnKind::number;
  std::vector<std::string> categories; // sorted; of categories
  // A number is its cell and this: floats would blur the seconds of a year.
  double centre = 0;
  std::string form; // of dates, as the schema has it
};

struct CsvTable {
  std::vector<CsvColumn> columns; // the inputs; with a schema in its order
  CsvColumn target; // category: a class
  std::int64_t rows = 0;
  // Row by row, the target last. A missing number is NaN; a category is its
  // place among the column's, -1 where it is missing.
  std::vector<float> cells;
  std::vector<std::string> left_out; // columns that are no inputs
  char decimal = '.';
  std::vector<std::string> notes; // for people

  std::size_t width() const {
    return columns.size() + 1;
  }
};

// `options.target` names a column, empty: the last one; ":class" or ":number"
// behind it says what it is. Otherwise it is a class when it is text, or whole
// numbers of at most 1000 values that come up twice each on average; else a
// number to predict. Classes are sorted, numbers by value. With a schema the
// columns are found by their names and are what it says they are.
CsvTable read_csv(
    const std::filesystem::path& path,
    const OpenOptions& options);

} // namespace temper::data
