// The tasks that come with temper, behind one function. Includes torch: see
// task.h.
#pragma once

#include <memory>
#include <string>

#include "temper/config/config.h"
#include "temper/data/source.h"
#include "temper/train/task.h"

namespace temper::train {

// The task's name when the config says auto: what the data's targets are.
std::string task_for(
    const config::Config& config,
    const data::SourceInfo& source);

// Error when task, loss and data do not go together.
std::unique_ptr<Task> make_task(
    const config::Config& config,
    const data::SourceInfo& source,
    std::shared_ptr<model::Module> model);

} // namespace temper::train
