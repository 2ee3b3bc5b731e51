// Times real training steps in each candidate setting and settles on one.
//
// How: the default is opened, warmed up and timed, then every other candidate
// as long as that costs less than it can gain; those clearly slower than the
// best are closed. The others are timed in turn, round by round, so that a
// machine that gets hot or busy slows all of them alike, until their ratios are
// known well enough (compare.h) or time is up. Whoever beats the default beyond
// the noise must show that its gradients are the reference's; if they are not,
// the next fastest is asked. Of settings as fast as the best the simplest wins.
//
// Many threads may take absurdly long on a busy machine: after a first step
// like that, fewer threads are tried next.
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
#include "temper/plan/worker.h"

namespace temper::plan {

struct CalibrateOptions {
  double seconds = 10; // for everything
  // Steps of the whole run: after the first measurement it is known how long
  // that takes, and measuring ends where it does not pay. No value: not known,
  // or measured on purpose.
  std::optional<std::int64_t> run_steps;
  // How busy the machine was since asked last; null: nobody looks.
  std::function<std::optional<machine::Load>()> load;
  // The clock in seconds; empty: the steady clock.
  std::function<double()> now;
  // How deadlines are waited for; null: in real time.
  WaitForJob wait;
  // Told what calibration is busy with, for a live line.
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

// The reason why nothing is to be measured, whatever a step takes; no value: it
// is measured.
std::optional<std::string> why_not_measure(const CalibrateOptions& options);

// A default that was not compared with anything because of the run's length.
inline constexpr const char* kTooShort =
    "the run is too short to measure others";

} // namespace temper::plan
