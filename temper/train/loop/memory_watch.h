// Memory while a run goes on: what the governor is to see after every committed
// step, the leak watch, and the forecast held against the first epoch. Tells
// what it finds. Used by the loop. No torch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "temper/journal/event.h"
#include "temper/machine/gauges.h"
#include "temper/memory/forecast.h"
#include "temper/memory/governor.h"
#include "temper/memory/leak_watch.h"
#include "temper/memory/usage.h"
#include "temper/train/loop/progress.h"

namespace temper::train {

class MemoryWatch {
 public:
  using Tell = std::function<void(const journal::Event&)>;
  MemoryWatch(
      const memory::Forecast& forecast,
      const std::string& device,
      Tell tell);

  struct Seen {
    memory::TensorUsage tensors;
    machine::Sample machine; // as last read
    std::uint64_t loader_bytes = 0;
    int micro_batch = 0; // as the governor had it
  };
  memory::MemorySample after_step(const Progress& progress, const Seen& seen);
  void after_epoch(const Progress& progress);

  // A leak that only a fresh process gives back: save and start again.
  bool wants_restart() const {
    return wants_restart_;
  }

 private:
  memory::Forecast forecast_;
  memory::LeakWatch leaks_;
  Tell tell_;
  std::uint64_t peak_bytes_ = 0; // with the size that was forecast
  double machine_seen_s_ = 0;
  bool compared_ = false;
  bool wants_restart_ = false;
};

journal::Event forecast_event(const memory::Forecast& forecast);

} // namespace temper::train
