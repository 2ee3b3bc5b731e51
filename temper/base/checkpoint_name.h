// The name of a checkpoint in a run's folder, in its journal and where trackers
// show it: "step-12" after 12 updates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace temper {

inline constexpr std::string_view kCheckpointPrefix = "step-";

inline std::string checkpoint_name(std::int64_t update) {
  return std::string(kCheckpointPrefix) + std::to_string(update);
}

// Whether a name in that folder is a checkpoint's, or of one that is about to
// be replaced.
inline bool names_checkpoint(std::string_view name) {
  return name.starts_with(kCheckpointPrefix);
}

} // namespace temper
