// NaN and infinity in samples of numbers. A model cannot learn from such a
// sample, and one of them spoils the batch it is in: check, the loader and
// training say which one it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "temper/data/loader/loader.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// "input 3 of 12 is NaN", "target is infinite"; empty: every number is finite.
std::string not_finite_text(const SourceInfo& info, const Sample& sample);

struct NotFiniteSample {
  int slot = 0; // in its batch
  std::string what; // as not_finite_text() has it
};

// The samples of a batch whose inputs or targets are not finite.
std::vector<NotFiniteSample> not_finite_samples(const HostBatch& batch);

// A sentence about them, of which a few are named: "x.npy[17] cannot be used:
// input 3 of 12 is NaN." Empty for an empty list.
std::string blame_text(
    const HostBatch& batch,
    const std::vector<NotFiniteSample>& found,
    const std::function<std::string(std::int64_t index)>& describe);

} // namespace temper::data
