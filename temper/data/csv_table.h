// A CSV file as a table of floats, one per cell, read in two passes over the
// mapped file: the first finds what each column is, the second fills.
//
// A column is numbers when every value in it is one, else text. Missing
// numbers become the mean of the column (over the whole file); a missing text
// belongs to no category.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "temper/data/source.h"

namespace temper::data {

// Categories of a text column; more of them are not a category but an
// identifier, and one-hot columns by the thousand would fill the memory.
constexpr std::int64_t kMostCategories = 64;

struct CsvColumn {
  std::string name;
  bool text = false;
  std::vector<std::string> categories; // sorted; of text
  double mean = 0; // of numbers
  std::int64_t missing = 0;
};

struct CsvTable {
  std::vector<CsvColumn> columns;
  std::size_t target = 0; // its column
  std::int64_t rows = 0;
  // Row by row. Of a text column: the category, -1 where it is missing.
  std::vector<float> cells;
};

// `target` names a column, empty: the last one; ":class" or ":number" behind it
// says what it is. Otherwise it is a class when it is text, or whole numbers
// of at most 1000 values that come up twice each on average; else a number to
// predict. Classes are sorted, numbers by value.
CsvTable read_csv(const std::filesystem::path& path, const std::string& target);

} // namespace temper::data
