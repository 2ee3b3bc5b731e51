#include "temper/plan/calibrate.h"

#include <algorithm>
#include <tuple>

#include "temper/base/text.h"
#include "temper/plan/contest.h"
#include "temper/plan/reasons.h"

namespace temper::plan {
namespace {

// A run should last so many times longer than the measuring before it.
constexpr double kWorthwhile = 5;

Tried told(const Contender& contender, const Contender* winner) {
  Tried tried{
      contender.setting,
      contender.median_s(),
      contender.out.value_or(Verdict::slower),
      contender.why};
  if (contender.out) return tried;
  if (&contender == winner) {
    tried.verdict = Verdict::chosen;
    tried.why = is_reference(contender.setting)
        ? "fastest; it is the reference"
        : "fastest; its gradients are the reference's";
    return tried;
  }
  check(winner != nullptr, "whoever is in play lost to somebody");
  const double ratio = *contender.median_s() / *winner->median_s();
  constexpr double kNotable = 1.04;
  tried.why = ratio < kNotable && simpler(winner->setting, contender.setting)
      ? "as fast as the chosen one, which is simpler"
      : cat(decimals(ratio, 2), "x the time of the chosen one");
  return tried;
}

void sort_tried(std::vector<Tried>& tried) {
  std::sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) {
    const auto rank = [](const Tried& each) {
      return std::tuple(
          each.verdict != Verdict::chosen,
          !each.step_s.has_value(),
          each.step_s.value_or(0));
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return simpler(a.setting, b.setting);
  });
}

// Nobody won: what is said in place of a measured reason.
void fall_back(Plan& plan, const Candidates& candidates) {
  const Setting& fallback = candidates.fallback;
  for (Choice* choice : {&plan.device, &plan.layout, &plan.threads})
    if (choice->reason != "as asked")
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
    if (each.verdict == Verdict::hung)
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
  Setting chosen = candidates.fallback;
  bool decided = false;
  double spent_s = 0;
  {
    Contest contest(candidates, rig, options);
    contest.qualify();
    if (!contest.too_short().empty())
      return plan_unmeasured(candidates, contest.too_short());
    contest.rounds();
    const Contender* winner = contest.winner();
    decided = winner != nullptr;
    if (winner) chosen = winner->setting;
    for (const Contender& each : contest.contenders())
      plan.tried.push_back(told(each, winner));
    spent_s = contest.spent_s();
  }
  plan.seconds = spent_s;
  sort_tried(plan.tried);
  explain(plan, chosen, candidates.asked);
  if (!decided) fall_back(plan, candidates);
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
      plan.tried.push_back({setting, std::nullopt, Verdict::skipped, why});
  for (Tried& each : plan.tried)
    if (each.setting == candidates.fallback)
      each = {each.setting, {}, Verdict::chosen, "the simplest, not measured"};
  sort_tried(plan.tried);
  explain(plan, candidates.fallback, candidates.asked);
  return plan;
}

std::optional<std::string> why_not_measure(
    std::optional<double> expected_run_s,
    double plan_s) {
  if (plan_s <= 0) return "plan.seconds is 0";
  if (!expected_run_s || *expected_run_s >= plan_s * kWorthwhile)
    return std::nullopt;
  return cat(
      "the run takes about ",
      seconds_text(*expected_run_s),
      ", and measuring up to ",
      seconds_text(plan_s),
      " would not pay");
}

} // namespace temper::plan
