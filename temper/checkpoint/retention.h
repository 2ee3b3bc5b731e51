// Which snapshots may go. A pure function: the store asks it after a new one
// was verified.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "temper/checkpoint/checkpoint.h"

namespace temper::checkpoint {

struct Candidate {
  std::int64_t update = 0;
  bool good = false; // it was verified
  std::optional<double> score;
};

// `all`: oldest first. The newest good ones stay, at least two; so do the best
// by score and the one that `best` names. A damaged one counts for nothing.
std::vector<std::int64_t> to_remove(
    const std::vector<Candidate>& all,
    Retention keep,
    std::optional<std::int64_t> best);

} // namespace temper::checkpoint
