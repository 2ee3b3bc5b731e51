#include "temper/plan/decide.h"

namespace temper::plan {

Plan decide(const Decision& decision) {
  const Candidates& candidates = decision.candidates;
  if (auto plan = decision.cache.recall(decision.key, candidates))
    return *std::move(plan);
  const auto why_not = why_not_measure(std::nullopt, decision.options.seconds);
  if (why_not) return plan_unmeasured(candidates, *why_not);
  if (candidates.settings.size() == 1 &&
      is_reference(candidates.settings.front()))
    return plan_unmeasured(candidates, "there is only one setting");
  Plan plan = calibrate(candidates, decision.make_rig(), decision.options);
  decision.cache.remember(decision.key, plan);
  return plan;
}

} // namespace temper::plan
