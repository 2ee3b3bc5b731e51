// The forecast of a run's memory, as plain numbers: a table for the start of a
// run, the size that was chosen by it, and afterwards how far off it was. Train
// fills it from the graph, or from two measured steps where there is no graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "temper/memory/budget.h"
#include "temper/memory/governor.h"

namespace temper::memory {

struct ForecastPart {
  std::string what; // "optimizer"
  std::uint64_t bytes = 0;
  bool tensors = true; // false: beside them, in ordinary memory
};

struct Forecast {
  std::vector<ForecastPart> parts; // at the peak, with the chosen size
  std::uint64_t peak_bytes = 0; // of tensors; 0: not known
  std::uint64_t whole_bytes = 0; // the same, were the batch computed at once
  int batch = 0;
  int at_once = 0; // chosen
  Budget budget;
  bool fits = true; // false: not even the smallest size does
  std::string how; // "from the graph", "from two measured steps"
  std::string why; // of the choice, a sentence
  // peak = base + samples * a sample's
  double base_bytes = 0;
  double sample_bytes = 0;
};

// Through two points.
struct Line {
  double base = 0;
  double slope = 0;
  double at(double x) const {
    return base + slope * x;
  }
};
Line line_through(double x1, double y1, double x2, double y2);

// Chooses among the governor's sizes the largest whose peak leaves head-room in
// the budget. `peak_of` is asked for few sizes. Fills everything but the parts.
Forecast choose_size(
    const GovernorOptions& options,
    const Budget& budget,
    const std::function<std::uint64_t(int at_once)>& peak_of);

// A table for people: parts, sum, budget, choice.
std::string to_text(const Forecast& forecast);

// Measured against forecast, in parts of the measured: 0.03 is 3 % too much.
double error_of(const Forecast& forecast, std::uint64_t measured_bytes);

} // namespace temper::memory
