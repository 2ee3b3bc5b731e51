#include "temper/plan/decide.h"

namespace temper::plan {

Plan decide(const Decision& decision) {
  const Candidates& candidates = decision.candidates;
  const Measuring& measuring = decision.measuring;
  if (!measuring.on_purpose)
    if (auto plan = decision.cache.recall(
            decision.key, candidates, decision.max_age_days))
      return *std::move(plan);
  CalibrateOptions options = decision.options;
  if (measuring.on_purpose) options.run_steps = std::nullopt;
  if (const auto why_not = why_not_measure(options))
    return plan_unmeasured(candidates, *why_not);
  if (candidates.settings.size() == 1 &&
      is_reference(candidates.settings.front()))
    return plan_unmeasured(candidates, "there is only one setting");
  Plan plan = calibrate(candidates, decision.make_rig(), options);
  const bool alone = !plan.load || !plan.load->busy();
  if (measuring.remember && (alone || measuring.even_busy))
    decision.cache.remember(decision.key, plan);
  return plan;
}

} // namespace temper::plan
