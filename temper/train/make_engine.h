// From a model and data to an engine: the seam between what needs no torch and
// LibTorch. absent.cpp answers for a build without one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "temper/config/config.h"
#include "temper/train/engine.h"
#include "temper/train/run_data.h"
#include "temper/train/run_model.h"

namespace temper::train {

struct EngineRequest {
  const config::Config& config;
  const RunModel& model;
  const RunData& data;
  std::string device; // "cpu", "mps"
  BatchLayout layout;
};

using MakeEngine = std::function<std::unique_ptr<Engine>(const EngineRequest&)>;

// The built-in task that suits the data.
std::unique_ptr<Engine> make_engine(const EngineRequest& request);

} // namespace temper::train
