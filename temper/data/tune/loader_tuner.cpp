#include "temper/data/tune/loader_tuner.h"

#include <algorithm>
#include <utility>

#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {

LoaderTuner::LoaderTuner(
    Tuning start,
    TuneLimits limits,
    double window_s,
    std::function<void(Tuning)> settled)
    : tuner_(start, limits),
      window_s_(window_s),
      settled_(std::move(settled)) {}

void LoaderTuner::begin(double busy_s) {
  last_ = Clock::now();
  busy_before_s_ = busy_s;
}

std::optional<Tuning>
LoaderTuner::batch(double wait_s, int samples, double busy_s) {
  const auto now = Clock::now();
  const double passed_s = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  busy_s_ += busy_s - std::exchange(busy_before_s_, busy_s);
  samples_ += samples;
  ++window_.steps;
  window_.wait_s += wait_s;
  window_.step_s += std::max(0.0, passed_s - wait_s);
  const double all_s = window_.wait_s + window_.step_s;
  if (all_s < window_s_ || all_s <= 0) return std::nullopt;

  const Tuning before = tuner_.tuning();
  window_.busy = std::min(1.0, busy_s_ / (all_s * before.workers));
  window_.samples_per_s = static_cast<double>(samples_) / all_s;
  const Tuning after = tuner_.observe(window_);
  window_ = {};
  busy_s_ = 0;
  samples_ = 0;
  if (tuner_.settled() && announced_ != after) {
    announced_ = after;
    log::detail(cat("input: ", tuner_.describe()));
    settled_(after);
  }
  if (after == before) return std::nullopt;
  return after;
}

} // namespace temper::data
