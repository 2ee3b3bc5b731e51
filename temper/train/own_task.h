// A run with a train_step of your own, from C++:
//
//   train::RunRequest request;
//   request.config = config::load("net.toml", {}).config;
//   request.make_engine = train::with_task(
//       [](auto model, const auto&) { return std::make_unique<MyTask>(model);
//       });
//   train::run(request);
//
// Everything else (micro-batches, journal, checkpoints, resume) stays. For a
// network of your own set request.own_model to its name; the task's maker gets
// no model then, and hands model::make_opaque(net) to Task. Includes torch: see
// task.h.
#pragma once

#include <functional>
#include <memory>

#include "temper/train/make_engine.h"
#include "temper/train/task.h"

namespace temper::train {

using MakeTask = std::function<std::unique_ptr<Task>(
    std::shared_ptr<model::Module>,
    const EngineRequest&)>;

MakeEngine with_task(MakeTask make_task);

std::unique_ptr<Engine> make_engine_with(
    const EngineRequest& request,
    const MakeTask& make_task);

} // namespace temper::train
