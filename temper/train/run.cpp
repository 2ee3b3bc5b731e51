#include "temper/train/run.h"

#include <algorithm>
#include <cmath>

#include "temper/base/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/print.h"
#include "temper/journal/aside.h"
#include "temper/journal/run_lock.h"
#include "temper/journal/trace.h"
#include "temper/machine/awake.h"
#include "temper/machine/system_watch.h"
#include "temper/train/doubts.h"
#include "temper/train/forecast.h"
#include "temper/train/hang.h"
#include "temper/train/kept_model.h"
#include "temper/train/memory_watch.h"
#include "temper/train/meter.h"
#include "temper/train/model_choice.h"
#include "temper/train/resume_rules.h"
#include "temper/train/roll_forward.h"
#include "temper/train/run_contents.h"
#include "temper/train/run_events.h"
#include "temper/train/run_parts.h"

namespace temper::train {
namespace {

void write_about(
    const journal::RunDirectory& directory,
    const RunRequest& request,
    const RunParts& parts) {
  const RunPlan& plan = parts.plan;
  write_file_atomically(directory.config(), config::to_toml(request.config));
  write_file_atomically(directory.schema(), data::to_json(*parts.data.schema));
  write_file_atomically(directory.machine(), machine::to_json(request.machine));
  write_file_atomically(directory.plan(), plan_json(plan) + "\n");
}

// The length may be another, if that changes nothing of what was done.
void check_length(
    const Earlier& from,
    const RunParts& parts,
    const journal::RunDirectory& run) {
  if (from.snapshot)
    check_length(
        from.was,
        from.now,
        parts.train->batches_per_epoch(),
        Progress::from_json(from.snapshot->loop),
        run.path.string());
}

// So that the next resume goes on from here.
void keep_changes(
    const journal::RunDirectory& directory,
    const RunRequest& request,
    const Earlier& from,
    const RunParts& parts) {
  const RunPlan& plan = parts.plan;
  const auto changed = changed_keys(from.was, from.now);
  if (!changed.empty()) {
    log::note(cat("the run goes on with another ", join(changed, ", "), "."));
    write_file_atomically(directory.config(), config::to_toml(from.now));
  }
  if (!std::filesystem::exists(directory.machine())) // lost: as it is now
    write_file_atomically(
        directory.machine(), machine::to_json(request.machine));
  if (from.schema == nullptr) // lost, or of a version that had none
    write_file_atomically(
        directory.schema(), data::to_json(*parts.data.schema));
  if (from.new_settings)
    write_file_atomically(directory.plan(), plan_json(plan) + "\n");
}

// What the plan says of a step; features that are kept make other steps.
std::optional<plan::Expected> planned_step(
    const RunRequest& request,
    const RunParts& parts) {
  if (!parts.plan_memory || !request.config.model.freeze.empty())
    return std::nullopt;
  return plan::expected_of(parts.plan.settings);
}

void forget_plan(const RunParts& parts) {
  try {
    if (parts.plan_memory)
      parts.plan_memory->cache.clear(parts.plan_memory->key.text());
  } catch (const Error& error) {
    log::detail(error.what()); // it ages, too
  }
}

// What ended the run is worth more than that its journal's disk is full, too.
void sync_if_it_can(journal::Journal& journal) {
  try {
    journal.sync();
  } catch (const Error& error) {
    log::warn(error.what());
  }
}

} // namespace

RunPlan plan_run(const RunRequest& asked) {
  RunRequest request = asked;
  if (request.own_model.empty())
    request.config = with_models_batch(std::move(request.config));
  RunParts parts = prepare(request, nullptr, true);
  if (request.config.device == "sim" && request.config.model.freeze.empty()) {
    parts.train->start(0);
    if (const data::Batch* batch = parts.train->next())
      parts.plan.fit = fit_on_sim(
          *parts.engine, *batch, request.config.sim.memory.bytes.value_or(0));
  }
  return parts.plan;
}

RunResult run(const RunRequest& asked) {
  const auto begin = Meter::Clock::now();
  RunRequest request = asked;
  RunResult result;
  std::optional<journal::RunLock> lock;
  const auto take = [&](const journal::RunDirectory& directory) {
    result.directory = directory;
    lock.emplace(directory);
    if (request.opened) request.opened(directory);
  };
  std::optional<Earlier> from;
  if (request.resume) {
    if (request.making) request.making();
    take({*request.resume});
    from = find_earlier(result.directory, request.changes, request.machine);
    request.config = from->now;
  }
  if (request.own_model.empty())
    request.config = with_models_batch(std::move(request.config));
  RunParts parts = prepare(request, from ? &*from : nullptr, false);
  if (request.config.device == "sim") set_up_sim(request.config.sim, true);
  result.plan = parts.plan;
  if (from) {
    check_length(*from, parts, result.directory);
    keep_changes(result.directory, request, *from, parts);
    // Without a checkpoint it begins again, with the data that is there now.
    if (!from->snapshot || !std::filesystem::exists(result.directory.data()))
      keep_contents(result.directory, parts.data);
  } else {
    // The run's own config is what it does.
    request.config.guard.rollback = std::min<std::int64_t>(
        request.config.guard.rollback,
        static_cast<std::int64_t>(parts.plan.copies.good_states));
    if (request.own_model.empty() && request.config.model.name.empty()) {
      const auto choice = choose_zoo_model(request.config, parts.data);
      request.config.model.name = choice.name;
      request.config.model.stem = choice.stem;
      request.config.model.width = choice.width;
      request.config.model.weights = parts.model.weights;
    }
    if (request.making) request.making();
    take(journal::make_run_directory(
        request.config.run.dir,
        request.config.run.name,
        parts.plan.engine.model,
        parts.plan.source));
    write_about(result.directory, request, parts);
    keep_contents(result.directory, parts.data);
  }
  keep_model(parts.model, result.directory);
  parts.model.unfrozen.reset(); // its weights are not those of the run for long
  const checkpoint::Snapshot* snapshot =
      from && from->snapshot ? &*from->snapshot : nullptr;

  journal::Journal journal(result.directory.journal());
  const auto tell = [&](journal::Event event) {
    journal.append(event);
    if (request.watcher.event) request.watcher.event(event);
  };
  const std::string writer = writer_json(request, parts.plan);
  const double prepare_s = Meter::seconds_since(begin);
  if (!from || !cut_journal(journal, result.directory, *from))
    tell(run_event(
        result.directory.name(), request, parts.plan, writer, prepare_s));
  if (from) {
    warn_of_other_writer(*from, writer);
    tell(resume_event(
        snapshot == nullptr ? 0 : snapshot->update,
        writer,
        request.origin,
        prepare_s));
  }
  tell(forecast_event(parts.plan.forecast));
  for (const journal::Event& event : journal::missing_aside(result.directory))
    tell(event);
  if (request.began) request.began(result.directory, request.config);
  if (request.planned) request.planned(parts.plan, request.config);

  checkpoint::Store store(
      result.directory.checkpoints(),
      {static_cast<int>(request.config.checkpoint.keep_last),
       static_cast<int>(request.config.checkpoint.keep_best)});
  if (snapshot != nullptr) store.recover(*snapshot);
  machine::Gauges gauges;
  machine::SystemWatch system(
      request.config.track.system_seconds,
      request.machine.memory.physical_bytes);
  Mailbox mailbox;
  Heartbeats own;
  Heartbeats& heartbeats = request.heartbeats ? *request.heartbeats : own;
  const LoopParts loop{
      .config = request.config,
      .engine = *parts.engine,
      .train = *parts.train,
      .val = parts.val.get(),
      .test = parts.test.get(),
      .journal = journal,
      .checkpoints = store,
      .writer = writer,
      .watcher = request.watcher,
      .gauge = [&] { return gauges.read(); },
      .system =
          [&] {
            auto mail = mailbox.take();
            return mail ? mail : system_event(system.due());
          },
      .around = plan::surroundings_of(request.machine),
      .threads = parts.plan.settings.setting().threads,
      .planned = planned_step(request, parts),
      .forget_plan = [&] { forget_plan(parts); },
      .stop = request.stop,
      .save_now = request.save_now,
      .heartbeats = &heartbeats,
      .governor = memory::Governor(governor_options(
          request.config, parts.plan.engine, parts.plan.forecast)),
      .forecast = parts.plan.forecast,
      .one_copy = parts.plan.copies.checkpoints < 2};
  const auto leave_trace = [&](std::int64_t update) {
    try {
      tell(artifact_event(journal::write_trace(result.directory), update));
    } catch (const std::exception& error) {
      log::warn(cat("the run's trace was not kept: ", error.what()));
    }
  };
  const machine::KeepAwake awake(cat("temper trains ", parts.model.name));
  try {
    const RunWatch watch(
        {heartbeats,
         request.config.watchdog.seconds,
         result.directory,
         parts.train.get(),
         parts.val.get(),
         request.give_up,
         request.trackers,
         &mailbox});
    result.outcome = run_loop(loop, snapshot);
  } catch (const HalfDone& error) {
    // What is in memory is lost, but the checkpoint is whole.
    log::warn(cat(error.what(), " ", error.hint()));
    result.outcome.ending = Ending::kStopped;
    result.outcome.updates = std::max<std::int64_t>(heartbeats.update, 0);
    result.outcome.best = std::nan("");
    result.outcome.start_again = true;
  } catch (const std::exception& error) {
    leave_trace(std::max<std::int64_t>(heartbeats.update, 0));
    tell(failed_event(error));
    sync_if_it_can(journal);
    throw;
  }
  if (result.outcome.ending != Ending::kStopped)
    for (const std::string& doubt : doubts_after(
             request.config,
             result.outcome.train,
             result.outcome.val,
             result.plan.classes))
      tell(note_event(doubt, result.outcome.updates));
  if (request.finishing)
    for (const std::string& path : request.finishing(result))
      tell(artifact_event(path, result.outcome.updates));
  while (auto mail = mailbox.take())
    tell(*std::move(mail));
  leave_trace(result.outcome.updates);
  tell(end_event(result.outcome, result.plan));
  journal.sync();
  if (request.ended) request.ended(result.outcome);
  return result;
}

} // namespace temper::train
