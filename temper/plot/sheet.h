// Pictures in rows and columns, each with a caption below.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/plot/canvas.h"

namespace temper::plot {

struct Tile {
  int width = 0; // 0: there is no picture; the tile is crossed out
  int height = 0;
  std::vector<std::uint8_t> rgb; // width * height * 3
  std::vector<std::string> caption; // lines; what is too long ends with dots
  bool alarm = false; // the caption is red
};

// A picture's longer side has `side` points; small ones grow to it in whole
// pixels.
Drawing sheet(std::vector<Tile> tiles, int columns, double side);

} // namespace temper::plot
