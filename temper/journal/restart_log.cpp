#include "temper/journal/restart_log.h"

#include <algorithm>

#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"

namespace temper::journal {
namespace {

bool is_aside(const Event& event) {
  return event.kind == kinds::kDeath || event.kind == kinds::kHang;
}

} // namespace

void set_aside(const RunDirectory& directory, Event event) {
  const auto number = static_cast<std::int64_t>(all_aside(directory).size());
  event.fields.insert(event.fields.begin(), {fields::kNumber, number + 1});
  Journal file(directory.restarts());
  file.append(std::move(event));
  file.sync();
}

std::vector<Event> all_aside(const RunDirectory& directory) {
  return read_journal(directory.restarts());
}

std::vector<Event> missing_aside(const RunDirectory& directory) {
  std::vector<Event> events = all_aside(directory);
  if (events.empty()) return events;
  // They were always put in from the first to the last.
  std::int64_t last = 0;
  Follower journal(directory.journal());
  for (;;) {
    const std::vector<Event> some = journal.read();
    if (some.empty()) break;
    for (const Event& event : some)
      if (is_aside(event))
        last = std::max(last, event.count(fields::kNumber).value_or(0));
  }
  events.erase(
      std::remove_if(
          events.begin(),
          events.end(),
          [&](const Event& event) {
            return event.count(fields::kNumber).value_or(0) <= last;
          }),
      events.end());
  return events;
}

} // namespace temper::journal
