// How far long work has come: a live line on a terminal, a plain line every
// ten seconds in a pipe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "temper/cli/terminal/console.h"
#include "temper/train/loop/observer.h"

namespace temper::cli {

class ProgressLine {
 public:
  explicit ProgressLine(Console& console);

  // May be called at any rate. `done` and `total` in the same unit; total 0:
  // not known.
  void show(
      const std::string& what,
      std::uint64_t done,
      std::uint64_t total,
      bool bytes);

 private:
  using Clock = std::chrono::steady_clock;

  Console& console_;
  Clock::time_point next_;
  Clock::time_point begin_; // of `what_`
  std::uint64_t begin_done_ = 0;
  std::string what_;
};

// Says which settings are being measured; nothing else of a run.
class MeasuringLine : public train::RunObserver {
 public:
  explicit MeasuringLine(Console& console) : console_(console) {}
  void measuring(const std::string& what) override {
    console_.progress(what);
  }

 private:
  Console& console_;
};

} // namespace temper::cli
