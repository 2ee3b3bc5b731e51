// Which samples are the same, from a hash of each: inside check.
// Private to data/inspect.
#pragma once

#include <cstdint>
#include <vector>

#include "temper/data/inspect/check.h"

namespace temper::data {

struct SeenSample {
  std::uint64_t hash = 0; // of its content
  std::int64_t index = 0; // val counts on behind train
  std::int64_t label = 0;
};

// Fills in what the report says about duplicates, of which `named` groups are
// named. Sorts `seen`.
void find_duplicates(
    std::vector<SeenSample>& seen,
    const Splits& splits,
    int named,
    DataReport& report);

} // namespace temper::data
