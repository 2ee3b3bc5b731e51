// A run whose model has a frozen part: cut in two, its features computed once
// where they can be, and put together again for checkpoints. Called by
// prepare_run.cpp. No torch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/config/config.h"
#include "temper/plan/setting.h"
#include "temper/train/engine/engine.h"
#include "temper/train/engine/features.h"
#include "temper/train/engine/make_engine.h"
#include "temper/train/setup/batches.h"

namespace temper::train {

// Progress of the preparation before the first step: (task, done, total).
using Preparing =
    std::function<void(const std::string&, std::int64_t, std::int64_t)>;

struct TransferRequest {
  const config::Config& config;
  RunData& data; // its stream is taken
  const RunModel& model;
  const plan::Setting& setting;
  InputFormat layout;
  const Environment& environment;
  const MakeEngine& make_engine;
  const MakeExtractor& make_extractor;
  Preparing preparing;
  bool dry = false; // compute nothing
};

struct TransferParts {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Batches> train;
  std::unique_ptr<Batches> val;
  std::unique_ptr<Batches> test;
  std::vector<std::string> notes;
  // The model that a step computes when the frozen part's features are kept:
  // the rest of the model. No value: all of it.
  std::optional<RunModel> stepped;
  // The frozen part beside it, which waits for the test at the end.
  std::uint64_t frozen_bytes = 0;
};

// The parts of a run whose model has a frozen part; no value when nothing is
// frozen.
std::optional<TransferParts> prepare_transfer(const TransferRequest& request);

// A checkpoint's weights for what does not train: a resumed run has those it
// began with, whatever has become of the file they came from.
void take_weights(RunModel& model, const graph::Weights& checkpoint);

// Samples of one pass through the frozen part: equal parts of a batch.
int feature_batch(const config::Config& config);

} // namespace temper::train
