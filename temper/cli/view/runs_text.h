// Runs as tables, JSON and CSV, for `temper runs`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "temper/journal/run_summary.h"

namespace temper::cli {

std::string list_text(const std::vector<journal::RunSummary>& runs);
// The message of `temper train --resume` for a run that has nothing left to do.
std::string done_text(const journal::RunSummary& run);
// Epoch by epoch, and where it was delivered to.
std::string show_text(const journal::RunSummary& run);
// Config keys in which they differ, results, and each metric's course.
std::string compare_text(const std::vector<journal::RunSummary>& runs);

nlohmann::json runs_json(const journal::RunSummary& run);
// One line a run.
std::string list_csv(const std::vector<journal::RunSummary>& runs);
// Every point of a run: run,metric,step,time_ms,value.
std::string points_csv(const journal::RunDirectory& run, bool head);

} // namespace temper::cli
