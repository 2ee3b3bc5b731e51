#include "temper/plan/plan.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/plan/reasons.h"

namespace temper::plan {
namespace {

using Row = std::vector<std::string>;

// The last column is words: it is broken into lines, the others are not.
std::string table(const std::vector<Row>& rows, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::size_t left_width = 0;
  for (const std::size_t each : widths)
    left_width += each + 2;
  constexpr std::size_t kNarrowest = 30;
  const std::size_t room =
      width > left_width + kNarrowest + 2 ? width - left_width - 2 : kNarrowest;
  std::string out;
  for (const Row& row : rows) {
    std::string left = "  ";
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      left += cat(row[i], std::string(widths[i] - row[i].size() + 2, ' '));
    auto lines = wrap(row.back(), room);
    if (lines.empty()) lines.emplace_back();
    for (const std::string& line : lines) {
      std::string whole = left + line;
      whole.erase(whole.find_last_not_of(' ') + 1);
      out += whole + "\n";
      left.assign(left_width + 2, ' ');
    }
  }
  return out;
}

std::string heading(const Plan& plan) {
  const std::string origin = origin_text(plan);
  return origin.empty() ? "plan\n" : cat("plan (", origin, ")\n");
}

// The reason why nothing was measured, for a plan of defaults; empty if
// something was, or there was nothing to choose.
std::string why_defaults(const Plan& plan) {
  std::string why;
  for (const Tried& each : plan.tried) {
    if (each.step_s) return "";
    if (each.verdict == TrialVerdict::skipped) why = each.why;
  }
  return why;
}

// Worth a line when a run starts.
bool is_news(const Choice& choice) {
  return !choice.reason.empty() && choice.reason != kAsAsked &&
      choice.reason != kNoChoice && choice.reason != kLayoutOfKernels &&
      choice.reason != kDefaultPrecision;
}

// A default among others that were not measured: the plan's own line says why.
bool is_default(const Choice& choice, const std::string& unmeasured) {
  return !unmeasured.empty() && choice.reason == cat(kDefault, unmeasured);
}

// A setting as a reader meets it first: "fused" alone says nothing.
std::string setting_text(const Setting& setting) {
  return cat(
      to_text(setting), setting.kernels == Kernels::fused ? " kernels" : "");
}

std::string value_text(const Choice& choice) {
  const auto kernels = config::kernels_from_text(choice.value);
  return kernels ? cat(choice.value, ", ", whose(*kernels)) : choice.value;
}

std::string time_text(const Tried& tried) {
  if (!tried.step_s) return "-";
  return cat(
      step_text(*tried.step_s),
      tried.spread ? cat(" ", spread_text(*tried.spread)) : "");
}

} // namespace

const char* to_string(TrialVerdict verdict) {
  switch (verdict) {
    case TrialVerdict::chosen:
      return "chosen";
    case TrialVerdict::equal:
      return "equal";
    case TrialVerdict::slower:
      return "slower";
    case TrialVerdict::rejected:
      return "rejected";
    case TrialVerdict::failed:
      return "failed";
    case TrialVerdict::hung:
      return "hung";
    case TrialVerdict::no_memory:
      return "no_memory";
    case TrialVerdict::skipped:
      return "skipped";
  }
  throw Bug("a verdict without a name");
}

Setting Plan::setting() const {
  const auto count = parse_int(threads.value);
  check(count.has_value(), "a plan's threads are a number");
  Setting setting;
  setting.device = device.value;
  setting.threads = static_cast<int>(*count);
  // A field that nobody chose is as a new setting has it.
  if (!layout.value.empty()) {
    const auto known = config::layout_from_text(layout.value);
    check(known.has_value(), "a plan's layout is one");
    setting.layout = *known;
  }
  if (!precision.value.empty()) {
    const auto known = config::precision_from_text(precision.value);
    check(known.has_value(), "a plan's precision is one");
    setting.precision = *known;
  }
  // Plans of before there were others say "auto", which was LibTorch's.
  setting.kernels =
      config::kernels_from_text(kernels.value).value_or(config::Kernels::stock);
  return setting;
}

const Tried* Plan::chosen() const {
  for (const Tried& each : tried)
    if (each.verdict == TrialVerdict::chosen && each.step_s) return &each;
  return nullptr;
}

std::string spread_text(double spread) {
  return cat("+-", decimals(std::max(spread * 100, 1.0), 0), " %");
}

std::string speed_text(const Plan& plan) {
  const Tried* chosen = plan.chosen();
  if (!chosen) return "";
  return cat(
      step_text(*chosen->step_s),
      plan.part < 1 ? " a step of a part of a batch" : " a step",
      chosen->spread ? cat(", ", spread_text(*chosen->spread)) : "");
}

std::string origin_text(const Plan& plan) {
  if (plan.remembered) return "remembered: measured in an earlier run";
  std::int64_t measured = 0;
  for (const Tried& each : plan.tried)
    measured += each.step_s ? 1 : 0;
  if (measured == 0) return "";
  return cat(
      plural(measured, "setting"), " measured in ", seconds_text(plan.seconds));
}

std::vector<std::pair<std::string, std::string>> start_rows(
    const Plan& plan,
    bool details) {
  const std::pair<const char*, const Choice*> choices[] = {
      {"device", &plan.device},
      {"kernels", &plan.kernels},
      {"layout", &plan.layout},
      {"threads", &plan.threads},
      {"precision", &plan.precision}};
  const std::string unmeasured = why_defaults(plan);
  const std::string settled =
      unmeasured.empty() ? "" : cat("defaults, as ", unmeasured);
  std::vector<std::string> parts{setting_text(plan.setting())};
  for (const std::string& part : {speed_text(plan), origin_text(plan), settled})
    if (!part.empty()) parts.push_back(part);
  std::vector<std::pair<std::string, std::string>> rows{
      {"plan", join(parts, "; ")}};
  for (const auto& [name, choice] : choices)
    if (details || (is_news(*choice) && !is_default(*choice, unmeasured)))
      rows.emplace_back(
          name, cat(value_text(*choice), " (", choice->reason, ")"));
  if (plan.load && plan.load->busy() && plan.chosen() && !plan.remembered)
    rows.emplace_back(
        "load",
        cat(machine::to_text(*plan.load),
            ": what is measured meanwhile is not remembered"));
  return rows;
}

std::string step_text(double seconds) {
  const auto three = [](double value) {
    return decimals(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  };
  if (seconds >= 0.9995) return cat(three(seconds), " s");
  if (seconds >= 0.9995e-3) return cat(three(seconds * 1e3), " ms");
  return cat(three(seconds * 1e6), " us");
}

std::string to_text(const Plan& plan, int width) {
  const auto columns = static_cast<std::size_t>(std::max(width, 40));
  const std::vector<std::pair<const char*, const Choice*>> choices{
      {"device", &plan.device},
      {"layout", &plan.layout},
      {"threads", &plan.threads},
      {"precision", &plan.precision},
      {"kernels", &plan.kernels},
      {"workers", &plan.workers},
      {"micro-batch", &plan.micro_batch}};
  std::vector<Row> rows;
  for (const auto& [name, choice] : choices)
    rows.push_back({name, choice->value, choice->reason});
  std::string out = heading(plan) + table(rows, columns);

  rows.clear();
  for (const Tried& each : plan.tried)
    rows.push_back(
        {to_text(each.setting),
         time_text(each),
         to_string(each.verdict),
         each.why});
  if (!rows.empty()) out += "tried\n" + table(rows, columns);

  rows.clear();
  for (const RuledOut& each : plan.ruled_out)
    rows.push_back({each.what, each.why});
  if (!rows.empty()) out += "not tried\n" + table(rows, columns);
  if (plan.load)
    out +=
        cat("load while it was measured: ", machine::to_text(*plan.load), "\n");
  for (const std::string& each : plan.warnings)
    out += cat("warning: ", each, "\n");
  return out;
}

} // namespace temper::plan
