// Weights by name for a run's model: model.weights = "imagenet", and the
// default of photographs where such weights are on this machine already. The
// seam between choose_model and the downloads of room data. No torch.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "temper/base/environment.h"
#include "temper/config/config.h"
#include "temper/train/setup/run_data.h"

namespace temper::train {

struct WeightsStore {
  // Finds weights on this machine; no value when they are not there.
  std::function<std::optional<std::filesystem::path>(
      const std::string& model,
      const std::string& weights)>
      find;
  // Fetches weights when they are not here. Error when they cannot be had.
  std::function<std::filesystem::path(
      const std::string& model,
      const std::string& weights)>
      get;
  // The weights come from elsewhere, a checkpoint: none are looked for.
  bool later = false;
};

// Told while weights are fetched: what, bytes so far, of how many. May throw to
// give up.
using Fetching =
    std::function<void(const std::string&, std::int64_t, std::int64_t)>;

// The catalogue's, in the folder of downloads.
WeightsStore weights_store(
    const Environment& environment,
    const Fetching& fetching);

struct WeightsQuestion {
  const config::Config& config;
  const RunData& data;
  std::string model; // its name, also when nobody said
  std::int64_t outputs = 0;
  std::string photo_model; // what photographs are given by default
};

// The weights that model.weights, or the default, come to.
struct StartWeights {
  std::filesystem::path path; // empty: fresh ones
  std::string name; // for the run's config
  bool other_classes = false; // of the file: the last layer starts anew
  std::string note; // goes behind what is said of the file
};

StartWeights start_weights(
    const WeightsQuestion& question,
    const WeightsStore& store);

} // namespace temper::train
