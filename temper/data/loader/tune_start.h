// The start of a loader's tuning: how much it may use, and how much of that it
// takes at first. Used by the loaders.
// Private to data/loader.
#pragma once

#include <cstdint>

#include "temper/data/loader/loader.h"
#include "temper/data/loader/sample_layout.h"
#include "temper/data/tune/autotune.h"

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

// The values that a loader of several threads begins with when none are
// remembered.
Tuning start_tuning(const TuneLimits& limits, const LoaderOptions& options);

// The values that an earlier run settled on, cut to the limits of this one;
// those that the options fix are taken from `fixed`.
Tuning within(const TuneLimits& limits, Tuning remembered, Tuning fixed);

} // namespace temper::data
