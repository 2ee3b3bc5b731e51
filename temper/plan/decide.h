// The way from a run's wishes to its plan, in one call for train: what is
// remembered, else what is measured, which is then remembered if the machine
// was left alone meanwhile.
#pragma once

#include <functional>
#include <memory>

#include "temper/plan/cache.h"
#include "temper/plan/calibrate.h"

namespace temper::plan {

struct Measuring {
  bool on_purpose = false; // measured anew, whatever the run's length
  bool remember = true; // false: nothing is written
  bool even_busy = false; // remembered although other programs were busy
};

struct Decision {
  Candidates candidates;
  PlanKey key;
  PlanCache cache{std::filesystem::path()}; // plan.cache = off: no folder
  CalibrateOptions options;
  double max_age_days = 0; // of what is remembered; 0: for ever
  Measuring measuring;
  // Made only when something is to be measured.
  std::function<std::shared_ptr<Rig>()> make_rig;
};

Plan decide(const Decision& decision);

} // namespace temper::plan
