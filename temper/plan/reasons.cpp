#include "temper/plan/reasons.h"

#include <algorithm>
#include <functional>

#include "temper/base/text.h"

namespace temper::plan {
namespace {

using Value = std::function<std::string(const Setting&)>;

struct Field {
  const char* name;
  Value value;
  Choice Plan::*choice;
  bool asked;
  bool changes_numbers; // worth saying that gradients are the same
};

std::string threads_value(const Setting& setting) {
  return cat(setting.threads);
}

// The value as it stands in a sentence: "2 threads", "contiguous".
std::string spoken(const Field& field, const Setting& setting) {
  if (field.choice == &Plan::threads) return plural(setting.threads, "thread");
  if (field.choice == &Plan::kernels) return whose(setting.kernels);
  return field.value(setting);
}

int differences(const Setting& a, const Setting& b) {
  return (a.device != b.device) + (a.layout != b.layout) +
      (a.threads != b.threads) + (a.precision != b.precision) +
      (a.kernels != b.kernels);
}

bool measured(const Tried& tried) {
  return tried.step_s &&
      (tried.verdict == TrialVerdict::slower ||
       tried.verdict == TrialVerdict::equal ||
       tried.verdict == TrialVerdict::chosen);
}

// The fairest comparison: as much alike as possible, then the fastest. The
// other device is held against at its best, whatever else it needs for it.
const Tried* rival(
    const Plan& plan,
    const Field& field,
    const Setting& chosen,
    const std::function<bool(const Tried&)>& counts) {
  const bool at_its_best = field.choice == &Plan::device;
  const Tried* best = nullptr;
  const auto rank = [&](const Tried& each) {
    return std::pair(
        at_its_best ? 0 : differences(each.setting, chosen),
        each.step_s.value_or(0));
  };
  for (const Tried& each : plan.tried) {
    if (field.value(each.setting) == field.value(chosen) || !counts(each))
      continue;
    // Another device's times with a layout say nothing about this one.
    if (!at_its_best && each.setting.device != chosen.device) continue;
    // Each kind of kernels has a layout of its own that suits it.
    if (field.choice == &Plan::layout && each.setting.kernels != chosen.kernels)
      continue;
    if (!best || rank(each) < rank(*best)) best = &each;
  }
  return best;
}

// The reason known beforehand against another value of this field.
std::string
ruled_out_reason(const Plan& plan, const Field& field, const Setting& chosen) {
  static const std::vector<std::string> kLayoutWords{
      to_text(Layout::contiguous), to_text(Layout::channels_last)};
  static const std::vector<std::string> kPrecisionWords{
      to_text(Precision::fp32),
      to_text(Precision::bf16),
      to_text(Precision::fp16)};
  std::vector<std::string> reasons;
  for (const RuledOut& each : plan.ruled_out) {
    if (field.choice == &Plan::device) {
      if (!contains(each.what, ","))
        reasons.push_back(cat(each.what, " ", each.why));
      continue;
    }
    const auto& words =
        field.choice == &Plan::layout ? kLayoutWords : kPrecisionWords;
    if (field.choice == &Plan::threads || field.choice == &Plan::kernels)
      continue;
    for (const std::string& word : words)
      if (each.what == cat(chosen.device, ", ", word))
        reasons.push_back(each.why);
  }
  return join(reasons, "; ");
}

// The other setting's name, with what else sets it apart.
std::string
rival_text(const Field& field, const Setting& other, const Setting& chosen) {
  std::string name = spoken(field, other);
  if (field.choice == &Plan::device) return name;
  if (field.choice != &Plan::kernels && other.kernels != chosen.kernels)
    name += cat(" by ", whose(other.kernels), " kernels");
  if (field.choice != &Plan::threads && other.threads != chosen.threads)
    name += cat(" on ", plural(other.threads, "thread"));
  return name;
}

// "33.1 ms a step; 2 threads: 405 ms"
std::string compared(
    const Field& field,
    const Tried& mine,
    const Tried& other,
    const Setting& chosen) {
  const std::string name = rival_text(field, other.setting, chosen);
  if (other.verdict == TrialVerdict::equal)
    return cat(
        step_text(*mine.step_s),
        " a step; ",
        name,
        " is equal within the noise: ",
        step_text(*other.step_s));
  // Medians of a machine that is now fast, now slow may contradict the pairs
  // of samples that were taken one right after the other, which decide.
  const bool pairs_decide = *other.step_s <= *mine.step_s;
  std::string reason = cat(
      step_text(*mine.step_s),
      " a step; ",
      name,
      ": ",
      pairs_decide ? "slower where both took turns" : step_text(*other.step_s));
  if (field.changes_numbers && !is_reference(chosen))
    reason += ", same gradients";
  return reason;
}

std::string trouble(const Tried& tried) {
  if (tried.verdict == TrialVerdict::no_memory) return " ran out of memory";
  if (tried.verdict == TrialVerdict::rejected)
    return cat(" was rejected: ", tried.why);
  return cat(" ", to_string(tried.verdict), ": ", tried.why);
}

std::string
reason_for(const Plan& plan, const Field& field, const Setting& chosen) {
  if (field.asked) return kAsAsked;
  const Tried* mine = nullptr;
  for (const Tried& each : plan.tried)
    if (each.setting == chosen && each.step_s) mine = &each;
  std::vector<std::string> reasons;
  const Tried* slower = mine ? rival(plan, field, chosen, measured) : nullptr;
  if (slower) reasons.push_back(compared(field, *mine, *slower, chosen));
  // Worth a word only where a value never worked, in whatever company.
  const auto worked = [&](const Tried& each) {
    return std::any_of(
        plan.tried.begin(), plan.tried.end(), [&](const Tried& known_one) {
          return measured(known_one) &&
              known_one.setting.device == each.setting.device &&
              field.value(known_one.setting) == field.value(each.setting);
        });
  };
  const Tried* failed = rival(plan, field, chosen, [&](const Tried& each) {
    return each.verdict != TrialVerdict::skipped && !measured(each) &&
        !worked(each);
  });
  if (failed)
    reasons.push_back(cat(spoken(field, failed->setting), trouble(*failed)));
  const std::string known = ruled_out_reason(plan, field, chosen);
  if (!known.empty()) reasons.push_back(known);
  if (!reasons.empty()) return join(reasons, "; ");
  if (field.choice == &Plan::threads && !chosen.on_cpu())
    return "one for each fast core; the GPU does the work";
  if (field.choice == &Plan::layout && chosen.kernels == Kernels::fused)
    return kLayoutOfKernels;
  const Tried* skipped =
      rival(plan, field, chosen, [](const Tried&) { return true; });
  if (skipped)
    return mine ? cat(kDefault,
                      spoken(field, skipped->setting),
                      " was not measured: ",
                      skipped->why)
                : cat(kDefault, skipped->why);
  return kNoChoice;
}

} // namespace

void explain(Plan& plan, const Setting& chosen, const Requests& asked) {
  const Field fields[] = {
      {"device",
       [](const Setting& s) { return s.device; },
       &Plan::device,
       !asked.any_device(),
       true},
      {"layout",
       [](const Setting& s) { return to_text(s.layout); },
       &Plan::layout,
       asked.layout.has_value(),
       true},
      {"kernels",
       [](const Setting& s) { return to_text(s.kernels); },
       &Plan::kernels,
       asked.kernels.has_value(),
       true},
      {"threads",
       threads_value,
       &Plan::threads,
       asked.threads.has_value(),
       false},
      {"precision",
       [](const Setting& s) { return to_text(s.precision); },
       &Plan::precision,
       asked.precision.has_value(),
       true}};
  for (const Field& field : fields)
    plan.*field.choice = {field.value(chosen), reason_for(plan, field, chosen)};
  if (asked.precision == Precision::fp32)
    plan.precision.reason = kDefaultPrecision;
}

} // namespace temper::plan
