// Events that more than one process writes: the trainer, or the supervisor when
// there is no trainer any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "temper/journal/event.h"

namespace temper::journal {

// A file that the run left in its directory.
Event artifact_event(const std::string& path, std::int64_t update);

// The end of a run that failed; `updates` that were done, where they are known.
Event failed_event(
    const std::string& why,
    std::optional<std::int64_t> updates = std::nullopt);

} // namespace temper::journal
