// A square table of counts as shades, such as a confusion matrix: a row for
// each truth, a column for each prediction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/plot/canvas.h"

namespace temper::plot {

struct HeatMap {
  std::string title;
  std::string row_title; // "true class"
  std::string column_title; // "predicted class"
  std::string scale_title; // "share of the row"
  std::vector<std::string> names; // of rows and columns
  std::vector<std::int64_t> counts; // row by row, names.size() squared
};

// The share of its row makes a cell's shade. Cells that are large enough have
// their percent written in them; where rows are too narrow for a name each,
// some are named.
Drawing heat_map(HeatMap map);

} // namespace temper::plot
