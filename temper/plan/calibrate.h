// Times real training steps in each candidate setting and settles on one.
//
// How: every candidate is opened, warmed up and timed once; those clearly
// slower than the best are closed. The others are timed in turn, round by
// round, so that a machine that gets hot or busy slows all of them alike. Then
// the fastest must show that its gradients are the reference's; if they are
// not, the next fastest is asked. Settings as fast as the best within the noise
// lose to the simplest of them.
//
// The time is a hard limit but for a step of the CPU, which is waited for. A
// step of another device that does not come back is left behind (worker.h), and
// its device is not used again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "temper/plan/candidates.h"
#include "temper/plan/plan.h"
#include "temper/plan/rig.h"

namespace temper::plan {

struct CalibrateOptions {
  double seconds = 10; // for everything
  // Steps of the whole run: after the first measurement it is known how long
  // that takes, and measuring ends where it does not pay.
  std::optional<std::int64_t> run_steps;
  // In seconds; empty: the steady clock. Deadlines are always in real time.
  std::function<double()> now;
  // What it is busy with, for a live line.
  std::function<void(const std::string&)> progress;
  // Asked between two steps; true: no more measuring.
  std::function<bool()> stop;
};

// The rig is shared with a thread that may have to be left behind.
Plan calibrate(
    const Candidates& candidates,
    const std::shared_ptr<Rig>& rig,
    const CalibrateOptions& options = {});

// The fallback, with the reason why nothing was measured.
Plan plan_unmeasured(const Candidates& candidates, const std::string& why);

// Why measuring does not pay for a run that is expected to take so long;
// nothing when it does, or when nobody knows how long it takes.
std::optional<std::string> why_not_measure(
    std::optional<double> expected_run_s,
    double plan_s);

} // namespace temper::plan
