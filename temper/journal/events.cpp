#include "temper/journal/events.h"

#include <string_view>

#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"

namespace temper::journal {

Event artifact_event(const std::string& path, std::int64_t update) {
  constexpr std::string_view kFolder = "artifacts/";
  return {
      kinds::kArtifact,
      0,
      {{fields::kPath, path},
       {fields::kName,
        path.starts_with(kFolder) ? path.substr(kFolder.size()) : path},
       {fields::kUpdate, update}}};
}

Event failed_event(
    const std::string& why,
    std::optional<std::int64_t> updates) {
  Event event{
      kinds::kEnd,
      0,
      {{fields::kStatus, std::string(statuses::kFailed)}, {fields::kWhy, why}}};
  if (updates) event.fields.emplace_back(fields::kUpdates, *updates);
  return event;
}

} // namespace temper::journal
