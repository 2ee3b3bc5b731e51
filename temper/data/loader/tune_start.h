// The start of a loader's tuning: how much it may use, how much of that it
// takes at first, and whether it goes on measuring. Used by the loaders.
// Private to data/loader.
#pragma once

#include <cstdint>
#include <optional>

#include "temper/data/loader/loader.h"
#include "temper/data/loader/sample_layout.h"
#include "temper/data/tune/autotune.h"
#include "temper/data/tune/loader_tuner.h"

namespace temper::data {

// The limits of tuning: what the options fix, what memory there is and what a
// batch takes of it. Error when the options ask for what no loader has.
TuneLimits tune_limits(
    const SourceInfo& info,
    const SampleLayout& layout,
    int batch,
    const LoaderOptions& options);

// The tuning of a loader of one thread: only the depth is chosen, and that
// once.
Tuning start_single(const TuneLimits& limits, const LoaderOptions& options);

struct TuneStart {
  Tuning tuning;
  std::optional<LoaderTuner> pace; // no value when all is fixed
};

// The values to begin with: those the key had settled on in an earlier run,
// where that is known.
TuneStart start_tuning(
    const TuneLimits& limits,
    const TuningKey& key,
    const LoaderOptions& options);

} // namespace temper::data
