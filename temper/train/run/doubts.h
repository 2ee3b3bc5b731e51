// Choices and results that are almost surely not what somebody wanted, each as
// one sentence: before a run from its config, after it from what came of it.
// Pure functions. The run puts them into its plan and journal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/train/metrics/metrics.h"

namespace temper::train {

std::vector<std::string> doubts_before(const config::Config& config);

// `train` of the last epoch, `val` as it was validated last; `classes` are
// their names.
std::vector<std::string> doubts_after(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums& val,
    const std::vector<std::string>& classes);

// The learning rate to try next after a run that diverged; no value if it did
// not. `train` and `val` are those of its last epoch.
std::optional<double> calmer_rate(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums& val,
    std::size_t classes);

} // namespace temper::train
