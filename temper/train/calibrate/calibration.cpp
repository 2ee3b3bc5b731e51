#include "temper/train/calibrate/calibration.h"

#include <algorithm>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/fetch/locate.h"
#include "temper/graph/fuse/fusion.h"
#include "temper/machine/device_kind.h"

namespace temper::train {
namespace {

plan::PlanKey key_of(const PlanRequest& request) {
  plan::PlanKey key;
  key.machine = plan::machine_fingerprint(request.machine);
  key.libtorch = request.machine.libtorch.version;
  key.temper = request.version;
  key.model = request.model.name;
  key.model_hash = request.model.program
      ? graph::hash_of(request.model.program->graph)
      : hash64(request.model.name);
  key.batch = request.config.train.batch * request.config.train.accumulate;
  key.input_shape = request.data.input_shape;
  key.requests = plan::requests_of(request.config);
  return key;
}

bool is_remembered(const PlanRequest& request) {
  const config::Config& config = request.config;
  return config.plan.cache == "on" && !machine::is_sim(config.device) &&
      !config.deterministic && request.data.stream == nullptr;
}

// A model written in C++ shows no operators, and may have convolutions.
bool may_convolve(const RunModel& model) {
  if (!model.program) return true;
  const auto& nodes = model.program->graph.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const graph::Node& node) {
    return node.op.find("conv") != std::string::npos;
  });
}

plan::ModelTraits traits_of(const PlanRequest& request) {
  plan::ModelTraits traits;
  traits.images = request.data.info.input == data::Input::image &&
      may_convolve(request.model);
  traits.fusable = request.model.program &&
      !graph::find_fusions(request.model.program->graph).groups.empty();
  return traits;
}

// A setting that would have to cut the batch to keep the budget, where the
// likely one need not, is no use.
void leave_out_what_does_not_fit(
    const PlanRequest& request,
    plan::Candidates& candidates) {
  const plan::Setting standard = candidates.standard();
  const auto fits = [&](const plan::Setting& setting) {
    return !setting.on_cpu() || request.fits(setting);
  };
  if (!request.fits || !fits(standard)) return;
  std::erase_if(candidates.settings, [&](const plan::Setting& setting) {
    if (setting == standard || fits(setting)) return false;
    candidates.ruled_out.push_back(
        {to_text(setting), "would have to cut the batch to keep the budget"});
    return true;
  });
  if (!fits(candidates.fallback)) candidates.fallback = standard;
}

} // namespace

PlanMemory plan_memory(const PlanRequest& request) {
  PlanMemory memory;
  memory.key = key_of(request);
  if (is_remembered(request))
    memory.cache =
        plan::PlanCache(data::cache_directory(request.environment) / "plans");
  return memory;
}

InputFormat layout_for(
    const plan::Setting& setting,
    const config::Config& config) {
  // A GPU gets bytes, in one copy, and normalises them itself.
  const bool mixes = config.train.mixup > 0 || config.train.cutmix > 0;
  InputFormat layout;
  layout.bytes = !setting.on_cpu() && !mixes;
  layout.channels_last =
      layout.bytes || setting.layout == plan::Layout::channels_last;
  return layout;
}

plan::Candidates settings_of(const PlanRequest& request) {
  plan::Candidates found = plan::find_candidates(
      request.machine,
      machine::list_devices(request.machine),
      plan::requests_of(request.config),
      traits_of(request));
  leave_out_what_does_not_fit(request, found);
  return found;
}

plan::Plan plan_settings(const PlanRequest& request) {
  plan::Decision decision;
  decision.candidates = settings_of(request);
  // A decision by the clock may be another setting, and other bits, next time.
  if (request.config.deterministic)
    return plan::plan_unmeasured(
        decision.candidates, "deterministic = true wants the same every time");
  const bool simulated = machine::is_sim(request.config.device);
  if (simulated && request.config.sim.fault.empty())
    return plan::plan_unmeasured(
        decision.candidates, "the speed of a simulated device says nothing");
  if (request.data.stream != nullptr)
    return plan::plan_unmeasured(
        decision.candidates, "a generator's samples can be taken only once");
  PlanMemory memory = plan_memory(request);
  decision.key = std::move(memory.key);
  decision.cache = std::move(memory.cache);
  decision.max_age_days = request.config.plan.max_age;
  decision.measuring = request.measuring;
  decision.options.seconds = request.config.plan.seconds;
  decision.options.load = request.load;
  decision.options.run_steps = request.run_steps;
  // Features that are kept are computed once, whatever the epochs.
  if (!request.config.model.freeze.empty() && request.run_steps)
    decision.options.run_steps = *request.run_steps /
        std::max<std::int64_t>(request.config.train.epochs, 1);
  decision.options.progress = request.progress;
  decision.make_rig = [&] { return make_rig(request, decision.candidates); };
  return plan::decide(decision);
}

} // namespace temper::train
