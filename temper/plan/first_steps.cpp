#include "temper/plan/first_steps.h"

#include <algorithm>

#include "temper/base/statistics.h"
#include "temper/base/text.h"
#include "temper/plan/compare.h"

namespace temper::plan {
namespace {

// The first allocate, compile and find their caches cold.
constexpr int kWarmUp = 5;
constexpr std::size_t kSteps = 25;
// Further off than this, and than the noise explains, is a disagreement.
constexpr double kAllowed = 1.5;
constexpr double kSpreads = 4;
// Cores that the loader takes beside the threads of a step.
constexpr double kLoaderCores = 0.3;

// The loader computes beside the steps, which is no fault of the plan.
bool shares_cores(const Conditions& now, int threads) {
  return now.load && now.load->own > threads + kLoaderCores &&
      now.load->own > now.load->usable - kLoaderCores;
}

} // namespace

std::optional<Expected> expected_of(const Plan& plan) {
  const Tried* chosen = plan.chosen();
  if (!chosen || !(chosen->setting == plan.setting()) || plan.part < 1 ||
      !chosen->setting.on_cpu() || *chosen->step_s <= 0)
    return std::nullopt;
  // It was told to be of no use to others, and is not remembered.
  if (!plan.remembered && plan.load && plan.load->busy()) return std::nullopt;
  return Expected{
      *chosen->step_s, chosen->spread.value_or(0), chosen->setting.threads};
}

FirstSteps::FirstSteps(Expected expected) : expected_(expected) {}

std::optional<FirstStepsVerdict> FirstSteps::see(
    double step_s,
    const Conditions& now) {
  if (seen_++ < kWarmUp || steps_s_.size() >= kSteps) return std::nullopt;
  steps_s_.push_back(step_s);
  if (steps_s_.size() < kSteps) return std::nullopt;
  return judge(median(steps_s_), now);
}

FirstStepsVerdict FirstSteps::judge(double step_s, const Conditions& now)
    const {
  const double spread = std::max(expected_.spread, spread_of(steps_s_));
  const double allowed = std::max(kAllowed, 1 + kSpreads * spread);
  FirstStepsVerdict verdict{expected_.step_s, step_s, true, false, ""};
  const double ratio = step_s / expected_.step_s;
  if (ratio <= allowed && ratio >= 1 / allowed) return verdict;
  verdict.agrees = false;
  const std::string found =
      cat("a step takes ",
          step_text(step_s),
          ", and ",
          step_text(expected_.step_s),
          " in the plan");
  const bool busy = now.load && now.load->busy();
  if (ratio > 1 && busy) {
    verdict.text =
        cat(found,
            ": ",
            machine::to_text(*now.load),
            ".",
            stall_advice(now, expected_.threads));
  } else if (ratio > 1 && shares_cores(now, expected_.threads)) {
    verdict.text =
        cat(found, ": preparing the data takes the same cores meanwhile.");
  } else {
    verdict.forget = true;
    verdict.text =
        cat(found,
            ": what was measured is forgotten, the next run measures "
            "again.");
  }
  return verdict;
}

} // namespace temper::plan
