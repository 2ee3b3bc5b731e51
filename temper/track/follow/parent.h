// The parent of a run: track.parent names a run of ours, or is MLflow's id of
// one. MLflow shows children below their parent (its tag mlflow.parentRunId).
#pragma once

#include <filesystem>
#include <string>

#include "temper/track/follow/target.h"

namespace temper::track {

// MLflow's id of the run that `wanted` names, in a place that it is delivered
// to: `place` is Target::id(), `shown` for people. `runs` is the folder that
// its name is looked for in. Nothing is asked of the place itself. Error when
// there is no such run or it is not tracked there; Unavailable when it is, and
// has not arrived yet.
std::string parent_id(
    const std::string& wanted,
    const std::filesystem::path& runs,
    const std::string& place,
    const std::string& shown);

// Called before a run: Error for what is wrong with options.parent as far as it
// can be told without a network.
void check_parent(const Options& options, const std::filesystem::path& runs);

// The parent as a run keeps it: "latest" is another one soon.
std::string lasting_parent(
    const std::string& wanted,
    const std::filesystem::path& runs);

} // namespace temper::track
