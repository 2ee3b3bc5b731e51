// One line of the journal: what happened, when, and its numbers. Console,
// trackers, `temper runs` and the dashboard know a run by these and by nothing
// else. docs/journal.md lists the kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace temper::journal {

// JSON text that goes in as it is: a plan, a table.
struct Json {
  std::string text;
  friend bool operator==(const Json&, const Json&) = default;
};

using Value = std::variant<bool, std::int64_t, double, std::string, Json>;

struct Event {
  std::string kind; // "step", "epoch", "checkpoint"
  double time_s = 0; // since 1970
  std::vector<std::pair<std::string, Value>> fields;

  // A field's value; no value when there is no such field, or it is of another
  // kind. A whole number is a number too.
  std::optional<double> number(std::string_view name) const;
  std::optional<std::int64_t> count(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<std::string> json(std::string_view name) const;
  const Value* find(std::string_view name) const;
};

// One JSON object, without the end of line. What JSON has no word for is
// written as MLflow does it: "NaN", "Infinity", "-Infinity".
std::string to_line(const Event& event);
// The event in a line; no value when the line is not one of the journal.
std::optional<Event> from_line(std::string_view line);

} // namespace temper::journal
