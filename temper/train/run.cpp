#include "temper/train/run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/atomic_file.h"
#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/config/print.h"
#include "temper/libtorch/facts.h"
#include "temper/machine/devices.h"

namespace temper::train {
namespace {

using nlohmann::json;

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

Parts prepare(const RunRequest& request) {
  const config::Config& config = request.config;
  if (config.threads)
    libtorch::set_threads(static_cast<int>(*config.threads), 1);
  Parts parts;
  parts.data = open_data(
      config, current_environment(), request.machine.memory.usable_bytes());
  parts.model = choose_model(config, parts.data);
  const std::string device = machine::choose_device(
      config.device, machine::list_devices(request.machine));
  // A GPU gets bytes, in one copy, and normalises them itself.
  const bool gpu = device != "cpu";
  const bool mixes = config.train.mixup > 0 || config.train.cutmix > 0;
  parts.layout.bytes = gpu && !mixes;
  parts.layout.channels_last = parts.layout.bytes;
  parts.engine = request.make_engine(
      {config, parts.model, parts.data, device, parts.layout});

  RunPlan& plan = parts.plan;
  plan.engine = parts.engine->facts();
  plan.source = parts.data.source;
  plan.train_samples = parts.data.train_samples;
  plan.val_samples = parts.data.val_samples;
  plan.input_shape = parts.data.input_shape;
  plan.classes = parts.data.info.classes;
  plan.notes = parts.data.notes;
  plan.notes.insert(
      plan.notes.end(), parts.model.notes.begin(), parts.model.notes.end());
  parts.train = train_batches(parts.data, config, parts.layout);
  parts.val = val_batches(parts.data, config, parts.layout);
  plan.updates_per_epoch = parts.train->batches_per_epoch().value_or(0);
  return parts;
}

// What must be the same for a resumed run to be bit-identical.
std::string writer(const RunRequest& request, const RunPlan& plan) {
  return json{
      {"temper", request.version},
      {"libtorch", request.machine.libtorch.version},
      {"device", plan.engine.device},
      {"cpu", request.machine.cpu.model},
      {"threads", request.config.threads.value_or(0)}}
      .dump();
}

std::string plan_json(const RunPlan& plan) {
  return json{
      {"device", plan.engine.device},
      {"model", plan.engine.model},
      {"task", plan.engine.task},
      {"loss", plan.engine.loss},
      {"optimizer", plan.engine.optimizer},
      {"parameters", plan.engine.parameters},
      {"trainable", plan.engine.trainable},
      {"source", plan.source},
      {"train_samples", plan.train_samples},
      {"val_samples", plan.val_samples},
      {"input_shape", plan.input_shape},
      {"updates_per_epoch", plan.updates_per_epoch},
      {"notes", plan.notes}}
      .dump();
}

void tell(
    journal::Journal& journal,
    const Watcher& watcher,
    journal::Event event) {
  journal.append(event);
  if (watcher.event) watcher.event(event);
}

const char* ending_name(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return "done";
    case Ending::kEarly:
      return "stopped early";
    case Ending::kStopped:
      return "stopped";
  }
  throw Bug("an ending outside the table");
}

// The confusion matrix and each class's accuracy, where there are classes.
void add_classes(
    journal::Event& event,
    const MetricSums& val,
    const std::vector<std::string>& classes) {
  if (val.confusion.empty()) return;
  json accuracies = json::array();
  for (const double each : class_accuracies(val))
    accuracies.push_back(std::isnan(each) ? json("NaN") : json(each));
  event.fields.emplace_back("classes", journal::Json{json(classes).dump()});
  event.fields.emplace_back("class_accuracy", journal::Json{accuracies.dump()});
  event.fields.emplace_back(
      "confusion", journal::Json{json(val.confusion).dump()});
}

} // namespace

RunPlan plan_run(const RunRequest& request) {
  return prepare(request).plan;
}

RunResult run(const RunRequest& asked) {
  RunRequest request = asked;
  std::optional<checkpoint::Snapshot> snapshot;
  journal::RunDirectory directory;
  if (request.resume) {
    directory = {*request.resume};
    request.config = config::load(directory.config(), {}).config;
    checkpoint::Store store(directory.checkpoints(), 2);
    snapshot = store.load_latest();
    if (!snapshot)
      throw Error(
          cat("[train] ",
              directory.name(),
              " has no checkpoint to go on from."),
          cat("Start it again: temper train ",
              directory.config().string(),
              "."));
  }
  Parts parts = prepare(request);
  if (!request.resume) {
    directory = journal::make_run_directory(
        request.config.run.dir,
        request.config.run.name,
        parts.plan.engine.model,
        parts.plan.source);
    write_file_atomically(directory.config(), config::to_toml(request.config));
    write_file_atomically(
        directory.machine(), machine::to_json(request.machine));
    write_file_atomically(directory.plan(), plan_json(parts.plan) + "\n");
  }
  journal::Journal journal(directory.journal());
  checkpoint::Store store(
      directory.checkpoints(),
      static_cast<int>(request.config.checkpoint.keep_last));
  const std::string made_by = writer(request, parts.plan);
  if (snapshot) {
    journal.truncate(snapshot->journal_offset);
    if (snapshot->writer != made_by)
      log::warn(
          "the checkpoint was written by another build, device or number of "
          "threads: the run goes on, and its result may differ in the last "
          "bits from an undisturbed one.");
    tell(
        journal,
        request.watcher,
        {"resume", 0, {{"update", snapshot->update}, {"writer", made_by}}});
  } else {
    tell(
        journal,
        request.watcher,
        {"run",
         0,
         {{"name", directory.name()},
          {"version", request.version},
          {"config", config::to_toml(request.config)},
          {"plan", journal::Json{plan_json(parts.plan)}},
          {"writer", made_by}}});
  }
  if (request.planned) request.planned(parts.plan, request.config);
  LoopParts loop{
      request.config,
      *parts.engine,
      *parts.train,
      parts.val.get(),
      journal,
      store,
      made_by,
      request.watcher,
      request.stop};
  RunResult result;
  result.directory = directory;
  result.plan = parts.plan;
  try {
    result.outcome = run_loop(loop, snapshot ? &*snapshot : nullptr);
  } catch (const std::exception& error) {
    tell(
        journal,
        request.watcher,
        {"end",
         0,
         {{"status", std::string("failed")},
          {"why", std::string(error.what())}}});
    journal.sync();
    throw;
  }
  journal::Event end{
      "end",
      0,
      {{"status", std::string(ending_name(result.outcome.ending))},
       {"updates", result.outcome.updates},
       {"seconds", result.outcome.seconds},
       {"best_metric", result.outcome.best_metric},
       {"best", result.outcome.best},
       {"best_epoch", std::int64_t{result.outcome.best_epoch}},
       {"bottleneck", bottleneck(result.outcome)}}};
  add_classes(end, result.outcome.val, result.plan.classes);
  tell(journal, request.watcher, end);
  journal.sync();
  return result;
}

std::string bottleneck(const Outcome& outcome) {
  const double waiting =
      outcome.seconds > 0 ? outcome.waiting_s / outcome.seconds : 0;
  const double evaluating =
      outcome.seconds > 0 ? outcome.evaluating_s / outcome.seconds : 0;
  const auto percent = [](double part) {
    return cat(decimals(part * 100, part < 0.1 ? 1 : 0), " %");
  };
  constexpr double kMuch = 0.2;
  if (waiting > kMuch)
    return cat(
        "the model waited ",
        percent(waiting),
        " of the time for data: more loader.workers or temper data pack help");
  if (evaluating > kMuch)
    return cat(
        "validation took ",
        percent(evaluating),
        " of the time: train.eval_every makes it rarer");
  return cat(
      "computing is what takes the time; waiting for data took ",
      percent(waiting),
      ", validation ",
      percent(evaluating));
}

} // namespace temper::train
