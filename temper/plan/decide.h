// The way from a run's wishes to its plan, in one call for train: what is
// remembered, else what is measured, which is then remembered.
#pragma once

#include <functional>
#include <memory>

#include "temper/plan/cache.h"
#include "temper/plan/calibrate.h"

namespace temper::plan {

struct Decision {
  Candidates candidates;
  PlanKey key;
  PlanCache cache{std::filesystem::path()}; // plan.cache = off: no folder
  CalibrateOptions options;
  // Made only when something is to be measured.
  std::function<std::shared_ptr<Rig>()> make_rig;
};

Plan decide(const Decision& decision);

} // namespace temper::plan
