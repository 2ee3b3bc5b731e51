// The plan: what will be done on this machine and why, every field with a
// reason in words, and what was measured on the way. Printed when a run starts,
// journaled, saved as plan.json, shown by `temper train --dry-run`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "temper/machine/load.h"
#include "temper/plan/setting.h"

namespace temper::plan {

struct Choice {
  std::string value;
  std::string reason;
  friend bool operator==(const Choice&, const Choice&) = default;
};

enum class TrialVerdict {
  chosen,
  equal, // as fast as the chosen one within the noise
  slower,
  rejected, // its gradients are not the reference's
  failed, // threw
  hung, // did not come back in time
  no_memory,
  skipped, // not tried, or not to the end
};

const char* to_string(TrialVerdict verdict);

struct Tried {
  Setting setting;
  std::optional<double> step_s; // median
  // About how far off step_s may be, as a part of it; no value: not known.
  std::optional<double> spread;
  TrialVerdict verdict = TrialVerdict::skipped;
  std::string why; // one sentence
  friend bool operator==(const Tried&, const Tried&) = default;
};

// A setting that is not worth trying, as is known beforehand.
struct RuledOut {
  std::string what; // "mps, channels_last"
  std::string why;
  friend bool operator==(const RuledOut&, const RuledOut&) = default;
};

struct Plan {
  Choice device;
  Choice layout;
  Choice threads;
  Choice workers{"auto", "the loader adapts them to the measured waits"};
  Choice precision;
  Choice kernels{"stock", "nothing else to choose from"};
  Choice micro_batch{"auto", "as many samples at once as fit in memory"};
  std::vector<Tried> tried; // the chosen one first, then by time
  std::vector<RuledOut> ruled_out;
  std::vector<std::string> warnings; // what the user should know
  double seconds = 0; // spent measuring
  double part = 1; // of a batch that was measured, 0..1
  // The busiest that the machine was meanwhile; no value: not known.
  std::optional<machine::Load> load;
  bool remembered = false; // from an earlier run, not measured now
  friend bool operator==(const Plan&, const Plan&) = default;

  // The part that was chosen among settings.
  Setting setting() const;
  // The measurement of the chosen setting; null when it was not measured.
  const Tried* chosen() const;
};

// The text of plan.json.
std::string to_json(const Plan& plan);
// Error, naming the key, when the text is not a plan.
Plan plan_from_json(const std::string& text);

// The choices with their reasons, what was tried, what was ruled out.
std::string to_text(const Plan& plan, int width = 80);

// The plan as the start of a run shows it, in rows of a name and a text: what
// is used, then each setting that was chosen among others with its reason, and
// the load if there was much. `details`: every setting.
std::vector<std::pair<std::string, std::string>> start_rows(
    const Plan& plan,
    bool details);

// "16.1 ms a step, +-4 %"; empty when it was not measured.
std::string speed_text(const Plan& plan);
// "4 settings measured in 1.2 s", "remembered"; empty when nothing was
// measured.
std::string origin_text(const Plan& plan);

// 0.04 -> "+-4 %"
std::string spread_text(double spread);

// 0.1712 -> "171 ms": with three digits, as step times are compared.
std::string step_text(double seconds);

} // namespace temper::plan
