// The engine on LibTorch: a task's steps, gradients over micro-batches, the
// optimiser, averaged weights, and the state of all that. Includes torch: see
// task.h.
// Private to train/torch.
#pragma once

#include <memory>

#include "temper/config/choices.h"
#include "temper/config/config.h"
#include "temper/train/engine/engine.h"
#include "temper/train/engine/make_engine.h"
#include "temper/train/task/task.h"
#include "temper/train/torch/engine_batch.h"

namespace temper::train {

struct TorchEngineParts {
  config::Config config;
  std::unique_ptr<Task> task;
  std::string model_name;
  BatchTransfer batch;
  // The number of classes in the model's output; labels must be below it. 0:
  // not checked.
  std::int64_t classes = 0;
  LateParameters joined; // what was frozen before
  config::Precision precision = config::Precision::fp32;
  bool channels_last = false;
  bool whole_batches = false; // the model takes no part of one
};

// Moves the task's model to the device, sets its mode, makes the optimiser.
std::unique_ptr<Engine> make_torch_engine(TorchEngineParts parts);

} // namespace temper::train
