// An artifact into a folder of a local store.
#pragma once

#include "temper/track/tracker.h"

namespace temper::track {

// Copies an artifact, unless it lies there already, or is gone: a run's files
// may have been tidied away by the time it is exported. Unavailable when the
// disk does not take it.
void copy_artifact(
    const Artifact& artifact,
    const std::filesystem::path& folder);

// The folder in "file:///folder" or "/folder"; empty: it is no folder of a
// machine's own.
std::filesystem::path folder_in(const std::string& uri);

} // namespace temper::track
