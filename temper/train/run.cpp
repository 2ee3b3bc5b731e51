#include "temper/train/run.h"

#include "temper/base/atomic_file.h"
#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/config/print.h"
#include "temper/libtorch/facts.h"
#include "temper/train/calibration.h"
#include "temper/train/run_events.h"
#include "temper/train/transfer_run.h"

namespace temper::train {
namespace {

// Everything a run needs, made in the order in which it is needed.
struct Parts {
  RunData data;
  RunModel model;
  BatchLayout layout;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Batches> train;
  std::unique_ptr<Batches> val;
  RunPlan plan;
};

RunPlan plan_of(const Parts& parts) {
  RunPlan plan;
  plan.engine = parts.engine->facts();
  plan.source = parts.data.source;
  plan.train_samples = parts.data.train_samples;
  plan.val_samples = parts.data.val_samples;
  plan.input_shape = parts.data.input_shape;
  plan.classes = parts.data.info.classes;
  plan.notes = parts.data.notes;
  plan.notes.insert(
      plan.notes.end(), parts.model.notes.begin(), parts.model.notes.end());
  plan.updates_per_epoch = parts.train->batches_per_epoch().value_or(0);
  return plan;
}

// Of all epochs; nothing when a generator does not say.
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

// What a run goes on from.
struct Earlier {
  checkpoint::Snapshot snapshot;
  plan::Plan settings;
};

Parts prepare(const RunRequest& request, const Earlier* from, bool dry) {
  const config::Config& config = request.config;
  const Environment environment = current_environment();
  Parts parts;
  parts.data =
      open_data(config, environment, request.machine.memory.usable_bytes());
  if (request.own_model.empty())
    parts.model = choose_model(config, parts.data);
  else
    parts.model.name = request.own_model;
  apply_recompute(parts.model, config, request.machine.memory.usable_bytes());
  if (from != nullptr) take_weights(parts.model, from->snapshot.tensors);
  // A run that goes on keeps its settings: others would give other bits.
  const plan::Plan settings = from != nullptr
      ? from->settings
      : plan_settings(
            {config,
             request.machine,
             parts.model,
             parts.data,
             request.make_engine,
             request.version,
             environment,
             steps_of(config, parts.data),
             request.planning});
  const plan::Setting setting = settings.setting();
  libtorch::set_threads(setting.threads, 1);
  parts.layout = layout_for(setting, config);
  auto transfer = prepare_transfer(
      {config,
       parts.data,
       parts.model,
       setting.device,
       parts.layout,
       environment,
       request.make_engine,
       request.make_extractor,
       request.preparing,
       dry});
  if (transfer) {
    parts.engine = std::move(transfer->engine);
    parts.train = std::move(transfer->train);
    parts.val = std::move(transfer->val);
    for (std::string& note : transfer->notes)
      parts.model.notes.push_back(std::move(note));
  } else {
    parts.engine = request.make_engine(
        {config,
         parts.model,
         parts.data,
         setting.device,
         parts.layout,
         {},
         setting.precision,
         setting.layout == "channels_last"});
    parts.train = train_batches(parts.data, config, parts.layout);
    parts.val = val_batches(parts.data, config, parts.layout);
  }
  parts.plan = plan_of(parts);
  parts.plan.settings = settings;
  if (parts.model.program)
    parts.plan.parameters = parameter_table(parts.model.program->graph, config);
  return parts;
}

Earlier earlier(const journal::RunDirectory& directory) {
  auto snapshot = checkpoint::Store(directory.checkpoints(), 2).load_latest();
  if (!snapshot)
    throw Error(
        cat("[train] ", directory.name(), " has no checkpoint to go on from."),
        cat("Start it again: temper train ", directory.config().string(), "."));
  return {
      *std::move(snapshot),
      settings_in(read_small_file(directory.plan()).value_or(""))};
}

journal::RunDirectory new_directory(
    const RunRequest& request,
    const RunPlan& plan) {
  const auto directory = journal::make_run_directory(
      request.config.run.dir,
      request.config.run.name,
      plan.engine.model,
      plan.source);
  write_file_atomically(directory.config(), config::to_toml(request.config));
  write_file_atomically(directory.machine(), machine::to_json(request.machine));
  write_file_atomically(directory.plan(), plan_json(plan) + "\n");
  return directory;
}

} // namespace

RunPlan plan_run(const RunRequest& request) {
  return prepare(request, nullptr, true).plan;
}

RunResult run(const RunRequest& asked) {
  RunRequest request = asked;
  RunResult result;
  std::optional<Earlier> from;
  if (request.resume) {
    result.directory = {*request.resume};
    request.config = config::load(result.directory.config(), {}).config;
    from = earlier(result.directory);
  }
  Parts parts = prepare(request, from ? &*from : nullptr, false);
  const checkpoint::Snapshot* snapshot = from ? &from->snapshot : nullptr;
  result.plan = parts.plan;
  if (snapshot == nullptr)
    result.directory = new_directory(request, parts.plan);

  journal::Journal journal(result.directory.journal());
  const auto tell = [&](journal::Event event) {
    journal.append(event);
    if (request.watcher.event) request.watcher.event(event);
  };
  const std::string writer = writer_json(request, parts.plan);
  if (snapshot != nullptr) {
    journal.truncate(snapshot->journal_offset);
    if (snapshot->writer != writer)
      log::warn(
          "the checkpoint was written by another build, device or number of "
          "threads: the run goes on, and its result may differ in the last "
          "bits from an undisturbed one.");
    tell(resume_event(snapshot->update, writer));
  } else {
    tell(run_event(result.directory.name(), request, parts.plan, writer));
  }
  if (request.planned) request.planned(parts.plan, request.config);

  checkpoint::Store store(
      result.directory.checkpoints(),
      static_cast<int>(request.config.checkpoint.keep_last));
  machine::Gauges gauges;
  const LoopParts loop{
      request.config,
      *parts.engine,
      *parts.train,
      parts.val.get(),
      journal,
      store,
      writer,
      request.watcher,
      [&] { return gauges.read(); },
      request.machine.cpu.logical,
      request.stop};
  try {
    result.outcome = run_loop(loop, snapshot);
  } catch (const std::exception& error) {
    tell(failed_event(error));
    journal.sync();
    throw;
  }
  tell(end_event(result.outcome, result.plan));
  journal.sync();
  return result;
}

} // namespace temper::train
