// The tasks that come with temper, behind one function. Includes torch: see
// task.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/config/choices.h"
#include "temper/config/config.h"
#include "temper/data/sample/source.h"
#include "temper/train/task/task.h"

namespace temper::train {

// The task's name. When the config says auto, it follows from the data's
// targets; numbers with the loss bce are bits: multi-label.
std::string task_for(
    const config::Config& config,
    const data::SourceInfo& source);

// The scale of numbers to predict: the user's is x * deviation + mean.
struct TargetScale {
  std::vector<double> mean; // empty: they are the user's
  std::vector<double> deviation;
};

// Error when task, loss and data do not go together. Errors of numbers are
// counted in the user's units, the loss in those of the targets. `kernels`
// says who computes the loss.
std::unique_ptr<Task> make_task(
    const config::Config& config,
    const data::SourceInfo& source,
    std::shared_ptr<model::Module> model,
    const TargetScale& scale = {},
    config::Kernels kernels = config::Kernels::stock);

} // namespace temper::train
