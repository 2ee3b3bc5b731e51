// Makes an engine of a model and data: the seam between what needs no torch and
// LibTorch. absent.cpp answers for a build without one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "temper/config/choices.h"
#include "temper/config/config.h"
#include "temper/train/engine/engine.h"
#include "temper/train/setup/run_data.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {

// Parameters that were frozen until that update: the optimiser counts theirs
// from there.
struct LateParameters {
  std::vector<std::string> names; // or patterns
  std::int64_t update = 0;
};

struct EngineRequest {
  const config::Config& config;
  const RunModel& model;
  const RunData& data;
  std::string device; // "cpu", "mps"
  InputFormat layout;
  LateParameters joined = {};
  config::Precision precision = config::Precision::fp32;
  bool channels_last = false; // how the weights of convolutions lie
  config::Kernels kernels = config::Kernels::stock;
};

using MakeEngine = std::function<std::unique_ptr<Engine>(const EngineRequest&)>;

// The built-in task that suits the data.
std::unique_ptr<Engine> make_engine(const EngineRequest& request);

} // namespace temper::train
