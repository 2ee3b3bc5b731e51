// The story of a run: epochs of steps, validation, checkpoints, the end. Needs
// no torch: it drives an Engine. What happens is told to the journal; whoever
// watches (observer.h) gets the same events and a glimpse of every step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "temper/checkpoint/checkpoint.h"
#include "temper/config/config.h"
#include "temper/journal/journal.h"
#include "temper/machine/gauges.h"
#include "temper/memory/forecast.h"
#include "temper/memory/governor.h"
#include "temper/plan/first_steps.h"
#include "temper/train/engine/engine.h"
#include "temper/train/loop/observer.h"
#include "temper/train/setup/batches.h"
#include "temper/train/watch/heartbeat.h"

namespace temper::train {

// A step as it passes, for a live line; not journaled.
struct Glimpse {
  std::uint32_t epoch = 0; // from 0
  std::uint32_t epochs = 0;
  std::int64_t step = 0; // in the epoch, done
  std::int64_t steps = 0; // of the epoch; 0: not known
  bool validating = false;
  double loss = 0; // as last looked at; NaN before the first
  double accuracy = 0; // of the epoch so far, as last looked at; NaN: none
  double lr = 0;
  std::int64_t samples = 0; // of this step
  double samples_per_s = 0;
  double waiting = 0; // part of the time spent waiting for data, 0..1
  std::uint64_t memory_bytes = 0;
};

struct LoopParts {
  const config::Config& config;
  Engine& engine;
  Batches& train;
  Batches* val = nullptr; // null: no validation
  Batches* test = nullptr; // scored once at the end; null: none
  journal::Journal& journal;
  checkpoint::Store& checkpoints;
  std::string writer = {}; // for the snapshots: what makes them
  RunObserver* observer = nullptr; // gets events and steps
  // The machine as it is now, asked at reports; null: not looked at.
  std::function<machine::Sample()> gauge = {};
  // How busy the machine is, asked after every step; mostly no value.
  std::function<std::optional<journal::Event>()> system = {};
  plan::Surroundings around = {}; // what the gauges are read against
  int threads = 1; // that compute a step
  // Lets so many compute from now on; null: the number must stay, because the
  // run's bits depend on it.
  std::function<void(int)> set_threads = {};
  // The plan's promise for one step, to be held against the first ones; no
  // value: they are not compared. forget_plan is called when the plan is wrong:
  // it is not to be used again.
  std::optional<plan::Expected> planned = {};
  std::function<void()> forget_plan = {};
  // Asked after every step, and while data is waited for or validated: true
  // ends the run there, with a checkpoint.
  std::function<bool()> stop = {};
  // True once each time a checkpoint is wanted now.
  std::function<bool()> save_now = {};
  Heartbeats* heartbeats = nullptr; // null: nobody watches
  // Says how many samples are computed at once; no value: one is made from the
  // config.
  std::optional<memory::Governor> governor = {};
  memory::Forecast forecast = {}; // of what a step takes; empty: not known
  // The loss that glimpses have is no older, where it can be read for nothing.
  double oldest_loss_s = 1;
  // Memory has no room for a second copy of the state: the next one is made
  // when the one before is written.
  bool one_copy = false;
};

enum class Ending {
  kDone, // all epochs, or max_steps
  kEarly, // early_stop: no better epoch for long
  kStopped, // asked to; --resume goes on
};

struct Outcome {
  Ending ending = Ending::kDone;
  std::int64_t updates = 0;
  MetricSums train; // of the last epoch
  MetricSums val;
  MetricSums test; // with the best weights
  std::string best_metric;
  double best = 0;
  std::uint32_t best_epoch = 0;
  // The last one that improved on the metric; a tie that a smaller loss broke
  // is none.
  std::uint32_t improved_epoch = 0;
  double seconds = 0;
  double waiting_s = 0; // for data
  double evaluating_s = 0;
  // Stopped because only a fresh process can go on: it gives leaked memory
  // back, or takes up from the checkpoint what failed half way.
  bool start_again = false;
};

// Trains from the beginning, or from `resumed`.
Outcome run_loop(
    const LoopParts& parts,
    const checkpoint::Snapshot* resumed = nullptr);

} // namespace temper::train
