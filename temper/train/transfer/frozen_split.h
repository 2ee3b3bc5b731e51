// A model with a frozen part cut in two: a prefix that gives the same result
// for a sample in every epoch, and the rest, which trains. No torch.
// Private to train/transfer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/train/setup/run_model.h"

namespace temper::train {

struct FrozenSplit {
  graph::Program prefix; // as it runs: eval mode, BatchNorm folded
  RunModel rest;
  // Weights that the whole model has and the rest has not: checkpoints hold
  // them too.
  graph::Weights frozen;
  std::int64_t frozen_values = 0; // of parameters among them
  std::vector<std::int64_t> shape; // of one sample's features
  std::uint64_t hash = 0; // of the prefix and its weights
};

// The model cut in two; no value when there is no such part: `why` then says so
// in words, and is empty when nothing is frozen at all.
std::optional<FrozenSplit> split_frozen(
    const RunModel& model,
    std::string& why);

} // namespace temper::train
