#include "temper/train/engine/make_engine.h"

#include <ATen/Context.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/pass/passes.h"
#include "temper/model/executor/executor.h"
#include "temper/model/module/opaque.h"
#include "temper/train/task/own_task.h"
#include "temper/train/task/tasks.h"
#include "temper/train/torch/torch_engine.h"

namespace temper::train {
namespace {

void freeze(model::Module& opaque, const std::string& pattern) {
  bool hit = false;
  for (const model::NamedTensor& each : opaque.parameters()) {
    if (!graph::matches(pattern, each.name)) continue;
    at::Tensor(each.tensor).set_requires_grad(false);
    hit = true;
  }
  if (hit) return;
  const auto all = opaque.parameters();
  throw Error(
      cat("[train] cannot freeze '", pattern, "': no parameter matches it."),
      all.empty() ? "" : cat("Names look like ", all.front().name, "."));
}

std::shared_ptr<model::Module> module_of(
    const RunModel& chosen,
    config::Kernels kernels) {
  if (chosen.program) {
    model::ExecutorOptions options;
    options.still_norms = chosen.still_norms;
    options.norm_group = chosen.norm_group;
    options.fuse = kernels == config::Kernels::fused;
    return std::make_shared<model::GraphModule>(
        *chosen.program, std::move(options));
  }
  if (chosen.torchscript.empty()) return nullptr; // the task brings its own
  std::shared_ptr<model::Module> opaque =
      model::open_torchscript(chosen.torchscript);
  for (const std::string& pattern : chosen.freeze)
    freeze(*opaque, pattern);
  return opaque;
}

Error unmixable(const RunData& data) {
  const data::SourceInfo& info = data.info;
  const bool images = info.input == data::Input::image;
  return Error(
      cat("[train] train.mixup and train.cutmix mix images with class labels; ",
          data.source,
          images ? " has no class labels."
                 : cat(" has ", to_string(info.input), ", not images.")),
      images || info.shape.size() < 2
          ? "Set both to 0."
          : "Set both to 0, or keep the pixels as bytes (uint8), which makes "
            "them images.");
}

} // namespace

std::unique_ptr<Engine> make_engine_with(
    const EngineRequest& request,
    const MakeTask& make_task) {
  at::globalContext().setDeterministicAlgorithms(
      request.config.deterministic, false);
  // A network that the task makes draws its weights from the run's seed.
  at::manual_seed(static_cast<std::uint64_t>(request.config.seed));
  TorchEngineParts parts;
  parts.config = request.config;
  parts.model_name = request.model.name;
  parts.task = make_task(module_of(request.model, request.kernels), request);
  parts.batch = plan_batches(request.device, request.layout, request.data);
  parts.batch.model_channels_last = request.channels_last;
  parts.joined = request.joined;
  parts.precision = request.precision;
  parts.channels_last = request.channels_last;
  parts.whole_batches = request.model.fixed_batch > 0;
  if (request.data.info.target == data::Target::label &&
      request.config.train.task != "autoencode")
    parts.classes = request.model.outputs;
  if ((request.config.train.mixup > 0 || request.config.train.cutmix > 0) &&
      (!parts.batch.images || parts.classes == 0))
    throw unmixable(request.data);
  return make_torch_engine(std::move(parts));
}

std::unique_ptr<Engine> make_engine(const EngineRequest& request) {
  return make_engine_with(
      request,
      [](std::shared_ptr<model::Module> module, const EngineRequest& asked) {
        TargetScale scale;
        if (asked.data.schema != nullptr)
          scale = {
              asked.data.schema->target_mean,
              asked.data.schema->target_deviation};
        return make_task(
            asked.config,
            asked.data.info,
            std::move(module),
            scale,
            asked.kernels);
      });
}

MakeEngine with_task(MakeTask make_task) {
  return [make_task = std::move(make_task)](const EngineRequest& request) {
    return make_engine_with(request, make_task);
  };
}

} // namespace temper::train
