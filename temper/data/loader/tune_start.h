// What a loader starts with: how much it may use, and how much of that it
// takes at first. Used by the loaders.
// Private to data/loader.
#pragma once

#include <cstdint>

#include "temper/data/loader/loader.h"
#include "temper/data/loader/sample_layout.h"
#include "temper/data/tune/autotune.h"

namespace temper::data {

// What the options fix, what memory there is and what a batch takes of it.
// Error when the options ask for what no loader has.
TuneLimits tune_limits(
    const SourceInfo& info,
    const SampleLayout& layout,
    int batch,
    const LoaderOptions& options);

// For a loader of one thread: nothing to tune but the depth, and that once.
Tuning start_single(const TuneLimits& limits, const LoaderOptions& options);

// What a loader of several threads begins with when nothing is remembered.
Tuning start_tuning(const TuneLimits& limits, const LoaderOptions& options);

// What an earlier run settled on, cut to the limits of this one; what the
// options fix is taken from `fixed`.
Tuning within(const TuneLimits& limits, Tuning remembered, Tuning fixed);

} // namespace temper::data
