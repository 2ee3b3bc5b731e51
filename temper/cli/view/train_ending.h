// The words after a run's summary: the classes it tells apart worst, and what
// to try next. Plain text, made from the outcome.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "temper/train/run/run.h"

namespace temper::cli {

// Worst first, at most `most` of them, each with what it was mostly taken for.
// Empty when there is no confusion matrix.
std::string class_table(
    const train::MetricSums& val,
    const std::vector<std::string>& classes,
    std::size_t most);

// A command and why to run it; at most three, the most useful first.
// `earlier` is the name of a run to compare with, or empty.
using Advice = std::vector<std::pair<std::string, std::string>>;
Advice next_steps(
    const train::RunResult& result,
    const config::Config& config,
    const std::string& earlier);
// Reasons are wrapped within `width` columns, commands never.
std::string advice_text(const Advice& advice, int width = 100);

} // namespace temper::cli
