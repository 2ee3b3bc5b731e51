// A run with a train_step of your own, from C++:
//
//   session::Request request;
//   request.config = config::load("net.toml", {}).config;
//   request.factories.make_engine = train::with_task(
//       [](auto model, auto&) { return std::make_unique<MyTask>(model); });
//   session::train(request);
//
// Everything else (micro-batches, journal, checkpoints, resume) stays. For a
// network of your own set request.own_model to its name; the task's maker gets
// no model then, and hands model::make_opaque(net) to Task. Includes torch: see
// task.h.
#pragma once

#include <functional>
#include <memory>

#include "temper/train/engine/make_engine.h"
#include "temper/train/task/task.h"

namespace temper::train {

using MakeTask = std::function<std::unique_ptr<Task>(
    std::shared_ptr<model::Module>,
    const EngineRequest&)>;

MakeEngine with_task(MakeTask make_task);

std::unique_ptr<Engine> make_engine_with(
    const EngineRequest& request,
    const MakeTask& make_task);

} // namespace temper::train
