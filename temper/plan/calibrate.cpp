#include "temper/plan/calibrate.h"

#include <algorithm>
#include <tuple>

#include "temper/base/text.h"
#include "temper/plan/compare.h"
#include "temper/plan/contest.h"
#include "temper/plan/reasons.h"

namespace temper::plan {
namespace {

// Two steps of two settings would be a fifth of such a run.
constexpr std::int64_t kFewestSteps = 20;

Tried told(const Contender& contender, const Contender* winner) {
  Tried tried;
  tried.setting = contender.setting;
  tried.step_s = contender.median_s();
  if (tried.step_s) tried.spread = contender.spread();
  tried.verdict = contender.out.value_or(TrialVerdict::slower);
  tried.why = contender.why;
  if (contender.out) return tried;
  if (&contender == winner) {
    tried.verdict = TrialVerdict::chosen;
    tried.why = is_reference(contender.setting)
        ? "it is the reference"
        : "its gradients are the reference's";
    return tried;
  }
  check(winner != nullptr, "whoever is in play lost to somebody");
  const Comparison seen = compare(contender.samples_s, winner->samples_s);
  if (!seen.slower()) tried.verdict = TrialVerdict::equal;
  tried.why = seen.slower()
      ? cat(decimals(seen.ratio, 2), "x the time of the chosen one")
      : cat(decimals(seen.ratio, 2),
            "x the time of the chosen one, within the noise (",
            spread_text(seen.error),
            ")");
  return tried;
}

void sort_tried(std::vector<Tried>& tried) {
  std::sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) {
    const auto rank = [](const Tried& each) {
      return std::tuple(
          each.verdict != TrialVerdict::chosen,
          !each.step_s.has_value(),
          each.step_s.value_or(0));
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return simpler(a.setting, b.setting);
  });
}

// The choice where nobody won: the default, unless something is wrong with it.
const Setting& best_unmeasured(const Plan& plan, const Candidates& candidates) {
  for (const Tried& each : plan.tried)
    if (each.setting == candidates.standard() &&
        each.verdict != TrialVerdict::skipped)
      return candidates.fallback;
  return candidates.standard();
}

// A plan that nobody won says so in place of measured reasons.
void fall_back(
    Plan& plan,
    const Candidates& candidates,
    const Setting& fallback) {
  for (Choice* choice :
       {&plan.device, &plan.layout, &plan.kernels, &plan.threads})
    if (choice->reason != kAsAsked)
      choice->reason = cat("no setting could be measured; ", choice->reason);
  std::string warning =
      cat("no setting could be measured; the run uses ", to_text(fallback));
  for (const Tried& each : plan.tried)
    if (each.setting == fallback && !each.why.empty())
      warning +=
          cat(", which was ", to_string(each.verdict), " (", each.why, ")");
  plan.warnings.push_back(warning + ".");
}

void warn_of_hung(Plan& plan) {
  for (const Tried& each : plan.tried)
    if (each.verdict == TrialVerdict::hung)
      plan.warnings.push_back(
          cat("a step on ",
              to_text(each.setting),
              " never came back and may still keep ",
              each.setting.device,
              " busy; if it is only slow, give plan.seconds more."));
}

bool nothing_to_decide(const Candidates& candidates) {
  return candidates.settings.size() == 1 &&
      is_reference(candidates.settings.front());
}

} // namespace

Plan calibrate(
    const Candidates& candidates,
    const std::shared_ptr<Rig>& rig,
    const CalibrateOptions& options) {
  if (nothing_to_decide(candidates))
    return plan_unmeasured(candidates, "there is only one setting");
  Plan plan;
  plan.ruled_out = candidates.ruled_out;
  std::optional<Setting> won;
  double spent_s = 0;
  {
    Contest contest(candidates, rig, options);
    contest.qualify();
    if (contest.too_short()) {
      Plan unmeasured = plan_unmeasured(candidates, kTooShort);
      unmeasured.load = contest.load();
      return unmeasured;
    }
    contest.rounds();
    const Contender* winner = contest.winner();
    if (winner) won = winner->setting;
    for (const Contender& each : contest.contenders())
      plan.tried.push_back(told(each, winner));
    spent_s = contest.spent_s();
    plan.load = contest.load();
  }
  plan.seconds = spent_s;
  plan.part = rig->part();
  sort_tried(plan.tried);
  const Setting chosen = won ? *won : best_unmeasured(plan, candidates);
  explain(plan, chosen, candidates.asked);
  if (!won) fall_back(plan, candidates, chosen);
  warn_of_hung(plan);
  if (const std::string note = rig->note(); !note.empty())
    plan.warnings.push_back(note + ".");
  return plan;
}

Plan plan_unmeasured(const Candidates& candidates, const std::string& why) {
  Plan plan;
  plan.ruled_out = candidates.ruled_out;
  if (candidates.settings.size() > 1)
    for (const Setting& setting : candidates.settings)
      plan.tried.push_back({setting, {}, {}, TrialVerdict::skipped, why});
  for (Tried& each : plan.tried)
    if (each.setting == candidates.standard())
      each = {
          each.setting,
          {},
          {},
          TrialVerdict::chosen,
          "the default, not measured"};
  sort_tried(plan.tried);
  explain(plan, candidates.standard(), candidates.asked);
  return plan;
}

std::optional<std::string> why_not_measure(const CalibrateOptions& options) {
  if (options.seconds <= 0) return "plan.seconds is 0";
  if (options.run_steps && *options.run_steps < kFewestSteps) return kTooShort;
  return std::nullopt;
}

} // namespace temper::plan
