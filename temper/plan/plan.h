// What will be done on this machine and why: every field with a reason in
// words, and what was measured on the way. Printed when a run starts,
// journaled, saved as plan.json, shown by `temper train --dry-run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/plan/setting.h"

namespace temper::plan {

struct Choice {
  std::string value;
  std::string reason;
  friend bool operator==(const Choice&, const Choice&) = default;
};

enum class Verdict {
  chosen,
  slower,
  rejected, // its gradients are not the reference's
  failed, // threw
  hung, // did not come back in time
  no_memory,
  skipped, // not tried, or not to the end
};

const char* to_string(Verdict verdict);

struct Tried {
  Setting setting;
  std::optional<double> step_s; // median
  Verdict verdict = Verdict::skipped;
  std::string why; // one sentence
  friend bool operator==(const Tried&, const Tried&) = default;
};

// Not worth trying: known beforehand.
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
  Choice kernels{"auto", "LibTorch's own"};
  Choice micro_batch{"auto", "as many samples at once as fit in memory"};
  std::vector<Tried> tried; // the chosen one first, then by time
  std::vector<RuledOut> ruled_out;
  std::vector<std::string> warnings; // what the user should know
  double seconds = 0; // spent measuring
  bool remembered = false; // from an earlier run, not measured now
  friend bool operator==(const Plan&, const Plan&) = default;

  // The part that was chosen among settings.
  Setting setting() const;
};

// As plan.json has it.
std::string to_json(const Plan& plan);
// Error, naming the key, when the text is not a plan.
Plan plan_from_json(const std::string& text);

// The choices with their reasons, what was tried, what was ruled out.
std::string to_text(const Plan& plan, int width = 80);

// 0.1712 -> "171 ms": with three digits, as step times are compared.
std::string step_text(double seconds);

} // namespace temper::plan
