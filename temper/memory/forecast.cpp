#include "temper/memory/forecast.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper::memory {
namespace {

// The share of the budget that is used; the rest is for what a forecast cannot
// know.
constexpr double kHeadRoom = 0.92;

std::string pad(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string reason(const Forecast& made, const GovernorOptions& options) {
  const std::string peak = bytes_text(made.peak_bytes);
  const std::string budget = bytes_text(made.budget.bytes);
  if (options.fixed > 0) return "memory.micro_batch says so";
  if (!options.may_split)
    return "the loss couples the samples of a batch, so it is not split";
  if (made.peak_bytes == 0) return "nothing is known of what a step takes";
  if (made.budget.bytes == 0) return "nobody sets a budget";
  if (!made.fits)
    return cat("even that needs ", peak, ", and there is room for ", budget);
  if (made.at_once == made.batch)
    return cat("the whole batch takes ", peak, " of ", budget);
  if (made.at_once == micro_batch_sizes(options).front())
    return "train.accumulate says so";
  return cat(
      "the whole batch would take ",
      bytes_text(made.whole_bytes),
      " of ",
      budget,
      "; this takes ",
      peak);
}

} // namespace

Line line_through(double x1, double y1, double x2, double y2) {
  if (x1 == x2) return {y1, 0};
  const double slope = (y2 - y1) / (x2 - x1);
  return {y1 - slope * x1, slope};
}

Forecast choose_size(
    const GovernorOptions& options,
    const Budget& budget,
    const std::function<std::uint64_t(int at_once)>& peak_of) {
  const std::vector<int> sizes = micro_batch_sizes(options);
  const auto room =
      static_cast<std::uint64_t>(kHeadRoom * static_cast<double>(budget.bytes));
  Forecast made;
  made.batch = options.batch;
  made.budget = budget;
  made.at_once = sizes.front();
  made.peak_bytes = peak_of(made.at_once);
  made.whole_bytes =
      made.at_once == options.batch ? made.peak_bytes : peak_of(options.batch);
  const auto too_much = [&] {
    return budget.bytes > 0 && made.peak_bytes > room;
  };
  for (std::size_t i = 1; i < sizes.size() && too_much(); ++i) {
    made.at_once = sizes[i];
    made.peak_bytes = peak_of(sizes[i]);
  }
  // Without the head-room, before what is too large in any case.
  for (std::size_t i = 0; i + 1 < sizes.size() && too_much(); ++i) {
    const std::uint64_t peak = peak_of(sizes[i]);
    if (peak > budget.bytes) continue;
    made.at_once = sizes[i];
    made.peak_bytes = peak;
    break;
  }
  made.fits = budget.bytes == 0 || made.peak_bytes <= budget.bytes;
  // A second size below the chosen one; the largest has none beside it.
  const int other = std::max(made.at_once / 2, 1);
  const Line line = line_through(
      made.at_once,
      static_cast<double>(made.peak_bytes),
      other,
      static_cast<double>(
          other == made.at_once ? made.peak_bytes : peak_of(other)));
  made.base_bytes = line.base;
  made.sample_bytes = line.slope;
  made.why = reason(made, options);
  return made;
}

double error_of(const Forecast& forecast, std::uint64_t measured_bytes) {
  if (measured_bytes == 0) return 0;
  return static_cast<double>(forecast.peak_bytes) /
      static_cast<double>(measured_bytes) -
      1;
}

std::string to_text(const Forecast& forecast) {
  std::size_t width = 18;
  for (const ForecastPart& part : forecast.parts)
    width = std::max(width, part.what.size());
  std::string out;
  const auto row = [&](const std::string& what, std::uint64_t bytes) {
    const std::string amount = bytes_text(bytes);
    out += cat("  ", what, pad(what, width), pad(amount, 12), amount, "\n");
  };
  for (const ForecastPart& part : forecast.parts)
    if (part.tensors && part.bytes > 0) row(part.what, part.bytes);
  row("tensors at most", forecast.peak_bytes);
  for (const ForecastPart& part : forecast.parts)
    if (!part.tensors && part.bytes > 0) row(part.what, part.bytes);
  if (forecast.budget.bytes > 0) {
    const std::string amount = bytes_text(forecast.budget.bytes);
    out +=
        cat("  budget",
            pad("budget", width),
            pad(amount, 12),
            amount,
            "  ",
            forecast.budget.why,
            "\n");
  }
  out +=
      cat("  ",
          forecast.at_once,
          " of ",
          plural(forecast.batch, "sample"),
          " at once: ",
          forecast.why,
          "\n");
  return out;
}

} // namespace temper::memory
