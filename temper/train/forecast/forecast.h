// The memory forecast of a run, and by it the number of samples computed at
// once: from the graph's own inference, or from two measured steps where there
// is no graph. Before the first step; printed, journaled, and held against what
// was measured after the first epoch. No torch.
#pragma once

#include <cstdint>
#include <functional>

#include "temper/config/config.h"
#include "temper/machine/machine.h"
#include "temper/memory/forecast.h"
#include "temper/plan/setting.h"
#include "temper/train/engine/engine.h"
#include "temper/train/setup/run_data.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {

struct ForecastRequest {
  const config::Config& config;
  const machine::Machine& machine;
  const RunModel& model;
  EngineFacts facts;
  plan::Setting setting;
  InputFormat layout;
  memory::Budget budget;
  std::uint64_t loader_bytes = 0;
  std::uint64_t copies_bytes = 0; // as copies_of_state() has them
  bool tries_kernels = false; // once, to find out what they work in
  // The peak of tensors in one step of so many samples, measured on a scratch
  // engine; null: cannot be. Asked only where there is no graph.
  std::function<std::uint64_t(int)> measure = {};
  std::uint64_t frozen_bytes = 0; // weights beside those of the model
};

// The budget of the device, with what is free now, less what lies in ordinary
// memory beside the tensors.
memory::Budget budget_of(
    const config::Config& config,
    const machine::Machine& machine,
    const std::string& device,
    std::uint64_t beside_bytes);

// The facts that an engine will have, as far as the data tells.
EngineFacts facts_before(const config::Config& config, const RunData& data);

memory::Forecast forecast_run(const ForecastRequest& request);

// Bytes of tensors of a step that computes all of so many samples at once, by
// the graph alone: those that stay between steps, and the peak. 0: not known.
struct StepPeak {
  std::uint64_t state_bytes = 0;
  std::uint64_t peak_bytes = 0;
};
StepPeak peak_of_step(const ForecastRequest& request, int samples);

} // namespace temper::train
