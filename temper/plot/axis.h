// Round numbers along an axis.
#pragma once

#include <string>
#include <vector>

namespace temper::plot {

struct Tick {
  double value = 0;
  std::string text;
};

// About `wanted` multiples of 1, 2 or 5 times a power of ten from low to high,
// no closer than `least`, all written with the same decimals. low < high, both
// finite.
std::vector<Tick> ticks(double low, double high, int wanted, double least = 0);

// The same on a logarithmic axis: powers of ten, with 2 and 5 between them
// where there are few. 0 < low < high.
std::vector<Tick> log_ticks(double low, double high);

} // namespace temper::plot
