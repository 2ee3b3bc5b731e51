// Holds a plan against the run it was made for: the run's own first steps tell
// whether what was measured, perhaps weeks ago, is still true. A pure state
// machine over step times and gauges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/plan/plan.h"
#include "temper/plan/slowdown.h"

namespace temper::plan {

// The plan's promise for one step.
struct Expected {
  double step_s = 0;
  double spread = 0;
  int threads = 1;
};

// No value where a step of the run is nothing that the plan measured: a part of
// a batch, another device than the CPU, which does not wait for each step.
std::optional<Expected> expected_of(const Plan& plan);

struct FirstStepsVerdict {
  double planned_s = 0;
  double step_s = 0; // median
  bool agrees = false;
  bool forget = false; // the plan is wrong, and not the moment
  std::string text; // one or two sentences; empty when it agrees
};

class FirstSteps {
 public:
  explicit FirstSteps(Expected expected);

  // Called after every step; gives a verdict once, when enough are seen.
  std::optional<FirstStepsVerdict> see(double step_s, const Conditions& now);

 private:
  FirstStepsVerdict judge(double step_s, const Conditions& now) const;

  Expected expected_;
  int seen_ = 0;
  std::vector<double> steps_s_;
};

} // namespace temper::plan
