// Notices when a run gets slow and stays slow, and says what probably did it.
// A pure state machine over step times and gauges: the event goes into the
// journal. The plan stays as it is, but for the number of threads of a run
// whose bits do not depend on it: fewer while others use the cores, and back.
//
// Steps are looked at in windows of a fixed number; a window counts by its
// median, so that single slow steps (a checkpoint, a page fault) are nothing.
// Several slow windows in a row are a slow-down, told once; after a window as
// fast as before, it may be told again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/machine/gauges.h"
#include "temper/machine/load.h"
#include "temper/machine/machine.h"

namespace temper::plan {

// The readings of the gauges about things that slow a run down.
struct Conditions {
  machine::Thermal thermal = machine::Thermal::unknown;
  machine::Pressure pressure = machine::Pressure::unknown;
  std::optional<machine::Load> load;
  std::uint64_t swap_used_bytes = 0;
  std::optional<double> memory_stall; // 0..1
  bool may_lack_fan = false;
};

// The facts of a machine that the gauges are read against.
struct Surroundings {
  machine::Cpu cpu;
  // A laptop of Apple's may have none, and its gauges may say nothing of heat.
  bool may_lack_fan = false;
};

Surroundings surroundings_of(const machine::Machine& machine);

Conditions conditions_of(
    const machine::Sample& sample,
    const Surroundings& around);

struct SpeedChange {
  bool slower = false; // false: as fast as before again
  double before_s = 0; // a step
  double now_s = 0;
  std::string text; // one sentence, with the likely cause
  // Threads to go on with from the next checkpoint on; 0: as many as now.
  int threads = 0;
};

// The threads of a run's steps, and whether the run may take others: only where
// its bits do not depend on them.
struct StepThreads {
  int planned = 1;
  bool may_change = false;
};

class SlowdownWatch {
 public:
  struct Limits {
    int window = 20; // steps
    int windows = 3; // slow ones in a row
    double slow = 1.25;
    double recovered = 1.1;
    int calm_windows = 5; // in a row, before the planned threads come back
  };
  SlowdownWatch();
  // Several threads stall on a busy machine.
  explicit SlowdownWatch(Limits limits, StepThreads threads = {});

  // Called after every step; `now` is the latest that is known.
  std::optional<SpeedChange> see(double step_s, const Conditions& now);
  // Steps are no longer comparable with those before: another micro-batch.
  void reset();
  // So many threads compute from now on.
  void use_threads(int count);

 private:
  std::optional<SpeedChange> back_to_plan(double step_s, const Conditions& now);

  Limits limits_;
  StepThreads threads_;
  int in_use_ = 1;
  int calm_ = 0; // windows in a row
  std::vector<double> window_s_;
  std::optional<double> best_s_; // the fastest window so far
  Conditions at_best_;
  std::vector<double> slow_s_; // medians of slow windows in a row
  bool told_ = false;
};

// "the machine is hot (thermal level heavy) ..."; compares with how it was when
// the run was fast.
std::string likely_cause(const Conditions& before, const Conditions& now);

// The advice about threads that wait for one that has no core; empty where
// there is one thread, or no such need.
std::string stall_advice(const Conditions& now, int threads);

// The threads that others leave cores for: at least one, fewer than now. The
// number stays where others are no trouble, or there is one thread.
int fewer_threads(const Conditions& now, int threads);

} // namespace temper::plan
