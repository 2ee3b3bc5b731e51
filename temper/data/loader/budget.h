// Memory of a loader, counted before it is taken: depth x batch + workers x
// scratch.
// Private to data/loader.
#pragma once

#include <cstdint>

#include "temper/data/loader/sample_layout.h"
#include "temper/data/sample/source.h"
#include "temper/data/tune/autotune.h"

namespace temper::data {

// The bytes that one worker needs beside the batches: a decoded image, a spare
// one and its encoded bytes. A guess where the sizes of images are not known.
std::uint64_t scratch_bytes(const SourceInfo& info, const SampleLayout& layout);

// `wanted`, or less of what is not fixed so that it fits. Error, with the
// numbers and what to lower, when nothing does.
Tuning fit_budget(Tuning wanted, const TuneLimits& limits);

} // namespace temper::data
