// The parent's half of a supervised `temper train`: it starts the same command
// as a trainer, and shows what becomes of it (temper/session/parent.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/cli/terminal/command.h"
#include "temper/config/load.h"
#include "temper/session/tracked_run.h"

namespace temper::cli {

// Keys that were given with --resume.
using Changes = std::vector<config::Assignment>;

// Arguments of a trainer that goes on with a run. One that died may not have
// kept the changes yet, so they are given again.
std::vector<std::string> resume_arguments(
    const Invocation& invocation,
    const Changes& changes,
    const std::filesystem::path& run);

// Runs the same command as a trainer, until it has ended for good; its exit
// code. No value when this system cannot.
std::optional<int> run_supervised(
    const Invocation& invocation,
    Console& console,
    const Changes& changes);

// The lines shown while trackers are waited for, and when they have everything.
void show_delivering(
    Console& console,
    const std::vector<std::string>& places,
    double patience_s);
void show_delivered(Console& console, const std::string& place);

} // namespace temper::cli
