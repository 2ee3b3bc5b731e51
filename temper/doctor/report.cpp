#include "temper/doctor/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"

namespace temper::doctor {
namespace {

std::string paint(Verdict verdict, const std::string& text, bool colour) {
  if (!colour) return text;
  const char* code = "32"; // green
  if (verdict == Verdict::note) code = "36"; // cyan
  if (verdict == Verdict::warn) code = "33"; // yellow
  if (verdict == Verdict::bad) code = "1;31"; // bold red
  return cat("\033[", code, "m", text, "\033[0m");
}

std::string closing_line(const std::vector<Check>& checks) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(checks.begin(), checks.end(), [&](const Check& c) {
      return c.verdict == verdict;
    });
  };
  const auto bad = count(Verdict::bad);
  const auto warn = count(Verdict::warn);
  if (bad > 0)
    return cat(
        plural(bad, "problem"),
        " to fix before training",
        warn > 0 ? cat(", ", plural(warn, "warning")) : "",
        ".");
  if (warn > 0) return cat("Fit to train, with ", plural(warn, "warning"), ".");
  return "Fit to train.";
}

} // namespace

Verdict worst(const std::vector<Check>& checks) {
  Verdict verdict = Verdict::ok;
  for (const auto& check : checks)
    verdict = std::max(verdict, check.verdict);
  return verdict;
}

std::string to_text(const std::vector<Check>& checks, const TextStyle& style) {
  std::size_t name_width = 0;
  for (const auto& check : checks)
    name_width = std::max(name_width, check.name.size());
  // "  warn  name  found": the text column begins behind mark and name.
  const std::size_t indent = 2 + 4 + 2 + name_width + 2;
  const auto wide = static_cast<std::size_t>(std::max(style.width, 40));
  const std::size_t room = wide > indent + 30 ? wide - indent : 30;
  const std::string margin(indent, ' ');

  std::string text;
  std::string group;
  for (const auto& check : checks) {
    if (check.group != group) {
      text += cat(group.empty() ? "" : "\n", check.group, "\n");
      group = check.group;
    }
    text += cat(
        "  ",
        paint(check.verdict, padded(to_string(check.verdict), 4), style.colour),
        "  ",
        padded(check.name, name_width),
        "  ",
        join(wrap(check.found, room), cat("\n", margin)),
        "\n");
    if (check.advice.empty()) continue;
    const std::string advice = check.source.empty()
        ? check.advice
        : cat(check.advice, " (", check.source, ")");
    text +=
        cat(margin,
            "-> ",
            join(wrap(advice, room - 3), cat("\n", margin, "   ")),
            "\n");
  }
  const Verdict verdict = worst(checks);
  return cat(
      text, "\n", paint(verdict, closing_line(checks), style.colour), "\n");
}

std::string to_json(
    const std::vector<Check>& checks,
    const machine::Machine& machine) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const auto& check : checks)
    rows.push_back(
        {{"group", check.group},
         {"name", check.name},
         {"found", check.found},
         {"verdict", to_string(check.verdict)},
         {"advice", check.advice},
         {"source", check.source}});
  const ordered_json report{
      {"schema", 1},
      {"verdict", to_string(worst(checks))},
      {"checks", rows},
      {"machine", ordered_json::parse(machine::to_json(machine))}};
  // Names and messages come from the system: bytes that are not UTF-8 are
  // replaced, never thrown about.
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
      "\n";
}

} // namespace temper::doctor
