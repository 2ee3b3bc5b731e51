#include "temper/train/run/prepare_run.h"

#include <algorithm>
#include <utility>

#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/kernels/simd/target.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/messages.h"
#include "temper/libtorch/out_of_memory.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/machine/device_kind.h"
#include "temper/memory/cpu_allocator.h"
#include "temper/memory/usage.h"
#include "temper/train/calibrate/calibration.h"
#include "temper/train/forecast/forecast.h"
#include "temper/train/forecast/state_copies.h"
#include "temper/train/run/doubts.h"
#include "temper/train/run/run_checks.h"
#include "temper/train/run/run_contents.h"
#include "temper/train/transfer/transfer_run.h"

namespace temper::train {
namespace {

RunOverview overview_of(const RunParts& parts, const config::Config& config) {
  RunOverview overview;
  overview.engine = parts.engine->facts();
  overview.source = parts.data.source;
  overview.train_samples = parts.data.train_samples;
  overview.val_samples = parts.data.val_samples;
  overview.test_samples = parts.data.test_samples;
  overview.input_shape = parts.data.input_shape;
  overview.classes = parts.data.info.classes;
  overview.notes = parts.data.notes;
  overview.notes.insert(
      overview.notes.end(), parts.model.notes.begin(), parts.model.notes.end());
  for (std::string& doubt : doubts_before(config))
    overview.notes.push_back(std::move(doubt));
  overview.updates_per_epoch = parts.train->batches_per_epoch().value_or(0);
  return overview;
}

// The steps of all epochs; no value when a generator does not say.
std::optional<std::int64_t> steps_of(
    const config::Config& config,
    const RunData& data) {
  const std::int64_t most = config.train.max_steps;
  if (data.train_samples == 0)
    return most > 0 ? std::optional(most) : std::nullopt;
  const std::int64_t batch = config.train.batch * config.train.accumulate;
  const std::int64_t all =
      (data.train_samples + batch - 1) / batch * config.train.epochs;
  return most > 0 ? std::min(most, all) : all;
}

plan::Choice workers_of(
    const config::Config& config,
    const data::LoaderStats& loader) {
  if (config.loader.workers) return {cat(*config.loader.workers), "as asked"};
  return {
      cat(loader.workers),
      config.loader.autotune
          ? "to begin with; the loader adapts them to the measured waits"
          : "what the machine has to spare; loader.autotune is off"};
}

std::unique_ptr<Engine> engine_of(
    const RunRequest& request,
    const RunParts& parts,
    const plan::Setting& setting) try {
  return request.factories.make_engine(
      {request.config,
       parts.model,
       parts.data,
       setting.device,
       parts.layout,
       {},
       setting.precision,
       setting.layout == plan::Layout::channels_last,
       setting.kernels});
} catch (const std::exception& error) {
  if (!libtorch::is_out_of_memory(error)) throw;
  throw Error(
      cat("[train] the model's weights and the optimiser's state alone do not "
          "fit on ",
          setting.device,
          ": ",
          libtorch::first_line(error.what()),
          "."),
      "Take a smaller model, or an optimizer that remembers less: sgd.");
}

// The observer as the functions that the makers of parts know.
Preparing preparing_of(const RunRequest& request) {
  if (request.observer == nullptr) return {};
  return [observer = request.observer](
             const std::string& what, std::int64_t done, std::int64_t total) {
    observer->preparing(what, done, total);
  };
}

std::function<void(const std::string&)> measuring_progress(
    const RunRequest& request) {
  if (request.observer == nullptr) return {};
  return [observer = request.observer](const std::string& what) {
    observer->measuring(what);
  };
}

// A dry run leaves nothing behind, unless it is there to measure.
plan::Measuring measuring_of(const RunRequest& request, bool dry) {
  plan::Measuring measuring = request.measuring;
  measuring.remember = measuring.remember && (!dry || measuring.on_purpose);
  return measuring;
}

// Before there is an engine.
memory::Forecast forecast_in(
    const RunRequest& request,
    const RunParts& parts,
    const plan::Setting& setting) {
  return forecast_run(
      {request.config,
       request.machine,
       parts.model,
       facts_before(request.config, parts.data),
       setting,
       {},
       budget_of(request.config, request.machine, setting.device, 0)});
}

// Settings are measured with as many samples at once as will fit with the
// likely one: fewer are the last resort, after kernels that keep less.
config::Config with_size_that_fits(
    const RunRequest& request,
    const RunParts& parts,
    const plan::Setting& likely) {
  config::Config config = request.config;
  if (!parts.model.program || config.memory.micro_batch ||
      parts.model.fixed_batch > 0)
    return config;
  const memory::Forecast forecast = forecast_in(request, parts, likely);
  if (forecast.at_once < forecast.batch)
    config.memory.micro_batch = forecast.at_once;
  return config;
}

// Lets the plan ask the forecast, where there is a graph and a CPU.
void let_it_forecast(
    const RunRequest& request,
    const RunParts& parts,
    PlanRequest& planned) {
  if (!parts.model.program) return;
  planned.fits = [&](const plan::Setting& setting) {
    if (request.config.memory.micro_batch || parts.model.fixed_batch > 0)
      return true;
    const auto batch = static_cast<int>(
        request.config.train.batch * request.config.train.accumulate);
    const std::uint64_t peak = planned.bytes_of(setting, batch).peak;
    const std::uint64_t budget =
        budget_of(request.config, request.machine, setting.device, 0).bytes;
    // Far from the budget the exact figure does not matter.
    if (peak > 0 && (budget == 0 || peak < budget / 2)) return true;
    const memory::Forecast made = forecast_in(request, parts, setting);
    return made.at_once == made.batch;
  };
  planned.bytes_of = [&](const plan::Setting& setting, int samples) {
    const StepPeak made = peak_of_step(
        {planned.config,
         request.machine,
         parts.model,
         facts_before(request.config, parts.data),
         setting,
         {},
         {}},
        samples);
    return SettingBytes{made.state_bytes, made.peak_bytes};
  };
}

// Without a wish of the config's, which is about tensors.
std::uint64_t room_beside(
    const RunRequest& request,
    const std::string& device,
    std::uint64_t loader_bytes) {
  const auto kind = machine::device_kind(device);
  if (kind != machine::DeviceKind::cpu && kind != machine::DeviceKind::mps)
    return 0;
  config::Config config = request.config;
  config.memory.budget = {};
  const std::uint64_t all = budget_of(config, request.machine, device, 0).bytes;
  return all > loader_bytes ? all - loader_bytes : all;
}

StateCopies copies_of(
    const RunRequest& request,
    const EngineFacts& facts,
    std::uint64_t room_bytes,
    std::vector<std::string>& notes) {
  const StateCopies made = copies_of_state(request.config, facts, room_bytes);
  const std::size_t asked = good_states(request.config.guard);
  if (made.good_states < asked)
    notes.push_back(
        cat("there is room for ",
            made.good_states,
            " of ",
            asked,
            " good states to go back to (guard.rollback): ",
            bytes_text(facts.state_bytes),
            " each"));
  return made;
}

memory::Forecast forecast_of(
    const RunRequest& request,
    RunParts& parts,
    const PlanRequest& planned,
    const plan::Setting& setting) {
  const std::uint64_t loader_bytes = parts.train->stats().memory_bytes +
      (parts.val ? parts.val->stats().memory_bytes : 0);
  const EngineFacts facts = parts.engine->facts();
  parts.overview.copies = copies_of(
      request,
      facts,
      room_beside(request, setting.device, loader_bytes),
      parts.overview.notes);
  const std::uint64_t copies_bytes = parts.overview.copies.bytes;
  const memory::Budget budget = budget_of(
      request.config,
      request.machine,
      setting.device,
      loader_bytes + copies_bytes);
  InputFormat layout = parts.layout;
  if (parts.stepped) layout.bytes = false; // features are numbers
  const memory::Forecast made = forecast_run(
      {request.config,
       request.machine,
       parts.stepped ? *parts.stepped : parts.model,
       facts,
       setting,
       layout,
       budget,
       loader_bytes,
       copies_bytes,
       true,
       parts.model.program ? nullptr : peak_of_steps(planned, setting),
       parts.frozen_bytes});
  memory::release_cached(setting.device); // what was measured left it
  // From here on: what was measured had an engine of its own beside the run's.
  memory::limit_tensors(setting.device, budget.bytes);
  return made;
}

} // namespace

void set_up_sim(const config::Sim& config, bool running) {
  libtorch::sim::Rules rules;
  rules.memory_bytes = config.memory.bytes.value_or(0);
  rules.fault = config.fault;
  if (running) rules.fail_alloc = config.fail_alloc;
  libtorch::sim::set_rules(rules);
}

RunParts prepare(const RunRequest& request, const ResumePoint* from, bool dry) {
  const config::Config& config = request.config;
  const Environment environment = current_environment();
  kernels::asked_target(environment); // refused before anything is opened
  // Settings are compared by several engines side by side: the budget counts
  // from the run itself on.
  memory::limit_cpu(0);
  if (machine::is_sim(config.device)) set_up_sim(config.sim, false);
  RunParts parts;
  const auto load = machine::watch_load(request.machine.cpu);
  parts.data = open_data(
      config,
      environment,
      request.machine.memory.usable_bytes(),
      !request.own_model.empty(),
      from == nullptr ? nullptr : from->schema,
      request.factories.open_data);
  parts.data.host = loader_host(config, request.machine, environment);
  if (from != nullptr && from->snapshot)
    check_contents({*request.resume}, parts.data);
  WeightsStore weights = weights_store(environment, preparing_of(request));
  // Those that a run began with may be gone when it goes on.
  weights.later = from != nullptr && from->snapshot;
  if (request.own_model.empty())
    parts.model = choose_model(config, parts.data, weights);
  else
    parts.model.name = request.own_model;
  check_run(config, parts.data, parts.model);
  apply_recompute(parts.model, config, request.machine.memory.usable_bytes());
  if (from != nullptr && from->snapshot)
    take_weights(parts.model, from->snapshot->tensors);
  // A run that goes on keeps its settings: others would give other bits.
  config::Config measured = config;
  PlanRequest planned{
      measured,
      request.machine,
      parts.model,
      parts.data,
      request.factories.make_engine,
      request.version,
      environment,
      steps_of(config, parts.data),
      measuring_progress(request),
      load,
      measuring_of(request, dry)};
  let_it_forecast(request, parts, planned);
  if (!from || !from->settings)
    measured =
        with_size_that_fits(request, parts, settings_of(planned).standard());
  if (!from || !from->settings) parts.plan_memory = plan_memory(planned);
  const plan::Plan settings =
      from && from->settings ? *from->settings : plan_settings(planned);
  const plan::Setting setting = settings.setting();
  memory::release_cached(setting.device); // what was measured left it
  libtorch::set_threads(setting.threads, 1);
  parts.layout = layout_for(setting, config);
  auto transfer = prepare_transfer(
      {config,
       parts.data,
       parts.model,
       setting,
       parts.layout,
       environment,
       request.factories.make_engine,
       request.factories.make_extractor,
       preparing_of(request),
       dry});
  if (transfer) {
    parts.engine = std::move(transfer->engine);
    parts.train = std::move(transfer->train);
    parts.val = std::move(transfer->val);
    parts.stepped = std::move(transfer->stepped);
    parts.frozen_bytes = transfer->frozen_bytes;
    parts.test = std::move(transfer->test);
    for (std::string& note : transfer->notes)
      parts.model.notes.push_back(std::move(note));
  } else {
    parts.engine = engine_of(request, parts, setting);
    parts.train = train_batches(parts.data, config, parts.layout);
    parts.val = val_batches(parts.data, config, parts.layout);
    parts.test = test_batches(parts.data, config, parts.layout);
  }
  parts.overview = overview_of(parts, config);
  parts.overview.settings = settings;
  parts.overview.kernels = kernels_of_run(
      config,
      parts.model,
      setting,
      {parts.overview.engine.loss, parts.overview.engine.loss_for_any_threads});
  parts.overview.settings.workers = workers_of(config, parts.train->stats());
  parts.overview.forecast = forecast_of(request, parts, planned, setting);
  if (from == nullptr)
    parts.overview.settings.micro_batch = {
        cat(parts.overview.forecast.at_once), parts.overview.forecast.why};
  if (parts.model.program)
    parts.overview.parameters =
        parameter_table(parts.model.program->graph, config);
  return parts;
}

} // namespace temper::train
