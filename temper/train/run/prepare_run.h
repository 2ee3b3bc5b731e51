// Everything a run needs, from its config: data, model, plan, engine, batches.
// Made before the first step by run.cpp. No torch.
// Private to train/run.
#pragma once

#include <memory>

#include "temper/train/calibrate/calibration.h"
#include "temper/train/run/run.h"
#include "temper/train/run/run_resume.h"

namespace temper::train {

// The parts of a run, in the order in which they are made.
struct RunParts {
  RunData data;
  RunModel model;
  std::optional<RunModel> stepped; // as TransferParts has them
  std::uint64_t frozen_bytes = 0;
  InputFormat layout;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Batches> train;
  std::unique_ptr<Batches> val;
  std::unique_ptr<Batches> test;
  RunOverview overview;
  std::optional<PlanMemory> plan_memory; // of a plan that was made now
};

// `from`: what the run goes on from; null: it begins. `dry`: only to be told
// about, nothing is computed ahead.
RunParts prepare(const RunRequest& request, const ResumePoint* from, bool dry);

// The simulated device as the config wants it. An allocation that shall fail is
// one of the run, not of what comes before.
void set_up_sim(const config::Sim& config, bool running);

} // namespace temper::train
