#include "temper/plan/plan.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"

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
  if (plan.remembered) return "plan (remembered: measured in an earlier run)\n";
  std::int64_t measured = 0;
  for (const Tried& each : plan.tried)
    measured += each.step_s ? 1 : 0;
  if (measured == 0) return "plan\n";
  return cat(
      "plan (",
      plural(measured, "setting"),
      " measured in ",
      seconds_text(plan.seconds),
      ")\n");
}

} // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::chosen:
      return "chosen";
    case Verdict::slower:
      return "slower";
    case Verdict::rejected:
      return "rejected";
    case Verdict::failed:
      return "failed";
    case Verdict::hung:
      return "hung";
    case Verdict::no_memory:
      return "no_memory";
    case Verdict::skipped:
      return "skipped";
  }
  throw Bug("a verdict without a name");
}

Setting Plan::setting() const {
  const auto count = parse_int(threads.value);
  check(count.has_value(), "a plan's threads are a number");
  return {
      device.value, layout.value, static_cast<int>(*count), precision.value};
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
         each.step_s ? step_text(*each.step_s) : "-",
         to_string(each.verdict),
         each.why});
  if (!rows.empty()) out += "tried\n" + table(rows, columns);

  rows.clear();
  for (const RuledOut& each : plan.ruled_out)
    rows.push_back({each.what, each.why});
  if (!rows.empty()) out += "not tried\n" + table(rows, columns);
  for (const std::string& each : plan.warnings)
    out += cat("warning: ", each, "\n");
  return out;
}

} // namespace temper::plan
