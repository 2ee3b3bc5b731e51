#include "temper/memory/leak_watch.h"

#include <algorithm>
#include <functional>

#include "temper/base/text.h"
#include "temper/machine/device_kind.h"

namespace temper::memory {
namespace {

// Caches fill and workers start in the first steps.
constexpr std::int64_t kSettlingSteps = 20;
constexpr std::size_t kMostPoints = 64;
// Growth below this is an allocator's, a thread's or a log's.
constexpr double kLeastGrowth = 64.0 * 1024 * 1024;
constexpr double kLeastPart = 0.05;
// The share of all pairs of points that must rise: steady growth, not a step.
constexpr double kSteady = 0.9;
constexpr double kRestartPart = 0.25; // of the budget

struct Series {
  Suspect suspect;
  std::function<double(const LeakSample&)> bytes;
};

double as_double(std::uint64_t bytes) {
  return static_cast<double>(bytes);
}

double gap(const LeakSample& at) {
  return std::max(0.0, as_double(at.driver_bytes) - as_double(at.tensor_bytes));
}

// The bytes that belong to nobody else. Off the CPU tensors are the driver's.
double outside(const LeakSample& at, bool host) {
  const double known = as_double(at.loader_bytes) +
      (host ? as_double(at.tensor_bytes)
            : as_double(std::max(at.driver_bytes, at.tensor_bytes)));
  return std::max(0.0, as_double(at.process_bytes) - known);
}

std::string
advice(Suspect suspect, const LeakSample& from, const LeakSample& to) {
  switch (suspect) {
    case Suspect::tensors:
      return cat(
          "tensors stay alive between steps: ",
          count_text(static_cast<std::int64_t>(to.tensors)),
          " now, ",
          count_text(static_cast<std::int64_t>(from.tensors)),
          " then. A train_step of your own may keep losses with their graph: "
          "detach() them");
    case Suspect::driver:
      return "the driver keeps memory that no tensor uses, as it does when "
             "shapes vary: pad or crop inputs to few sizes";
    case Suspect::loader:
      return "batches made ahead: lower loader.depth or set loader.memory";
    case Suspect::outside:
      return "neither tensors nor the loader: a cache of compiled kernels or "
             "graphs, or a library";
  }
  return "";
}

} // namespace

const char* to_string(Suspect suspect) {
  switch (suspect) {
    case Suspect::tensors:
      return "tensors";
    case Suspect::driver:
      return "driver";
    case Suspect::loader:
      return "loader";
    case Suspect::outside:
      return "outside";
  }
  return "";
}

Slope theil_sen(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i + 1; j < x.size(); ++j)
      if (x[j] != x[i]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
  if (slopes.empty()) return {};
  const auto middle =
      slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  Slope found;
  found.median = *middle;
  const auto rising = std::count_if(
      slopes.begin(), slopes.end(), [](double slope) { return slope > 0; });
  found.rising =
      static_cast<double>(rising) / static_cast<double>(slopes.size());
  return found;
}

LeakWatch::LeakWatch(const LeakOptions& options) : options_(options) {}

std::optional<Leak> LeakWatch::see(const LeakSample& now) {
  ++seen_;
  if (seen_ <= kSettlingSteps || seen_ % every_ != 0) return {};
  points_.push_back(now);
  if (points_.size() < kMostPoints) return {};
  std::optional<Leak> found = judge();
  // Every second one stays: the first is always the oldest.
  for (std::size_t i = 0; 2 * i < points_.size(); ++i)
    points_[i] = points_[2 * i];
  points_.resize((points_.size() + 1) / 2);
  every_ *= 2;
  return found;
}

std::optional<Leak> LeakWatch::judge() {
  const bool host = machine::is_cpu(options_.device);
  const std::vector<Series> all{
      {Suspect::tensors,
       [](const auto& at) { return as_double(at.tensor_bytes); }},
      {Suspect::driver, gap},
      {Suspect::loader,
       [](const auto& at) { return as_double(at.loader_bytes); }},
      {Suspect::outside, [&](const auto& at) { return outside(at, host); }}};
  const LeakSample& from = points_.front();
  const LeakSample& to = points_.back();
  std::vector<double> steps;
  for (const LeakSample& point : points_)
    steps.push_back(static_cast<double>(point.update));
  Leak worst;
  for (const Series& series : all) {
    std::vector<double> bytes;
    for (const LeakSample& point : points_)
      bytes.push_back(series.bytes(point));
    const Slope slope = theil_sen(steps, bytes);
    const double grown = slope.median * (steps.back() - steps.front());
    const double least = std::max(kLeastGrowth, kLeastPart * bytes.front());
    if (slope.rising < kSteady || grown < least) continue;
    if (slope.median <= worst.bytes_per_step) continue;
    worst.suspect = series.suspect;
    worst.bytes_per_step = slope.median;
    worst.grown_bytes = static_cast<std::uint64_t>(grown);
  }
  if (worst.bytes_per_step <= 0 || worst.grown_bytes < 2 * told_bytes_)
    return {};
  told_bytes_ = worst.grown_bytes;
  const bool freed_by_exit =
      worst.suspect == Suspect::outside || worst.suspect == Suspect::driver;
  worst.restart =
      machine::device_kind(options_.device) == machine::DeviceKind::mps &&
      freed_by_exit && options_.budget_bytes > 0 &&
      as_double(worst.grown_bytes) >
          kRestartPart * as_double(options_.budget_bytes);
  worst.why =
      cat("memory grows without end, ",
          bytes_text(static_cast<std::uint64_t>(worst.bytes_per_step * 1000)),
          " every 1,000 steps, ",
          bytes_text(worst.grown_bytes),
          " since update ",
          count_text(from.update),
          ": ",
          advice(worst.suspect, from, to));
  return worst;
}

} // namespace temper::memory
