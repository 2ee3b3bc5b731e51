#include "temper/train/run/run.h"

#include <algorithm>
#include <cmath>

#include "temper/base/clock.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/print.h"
#include "temper/journal/events.h"
#include "temper/journal/restart_log.h"
#include "temper/journal/run_lock.h"
#include "temper/journal/trace.h"
#include "temper/libtorch/facts.h"
#include "temper/machine/awake.h"
#include "temper/machine/device_kind.h"
#include "temper/machine/system_watch.h"
#include "temper/train/forecast/forecast.h"
#include "temper/train/forecast/governor_options.h"
#include "temper/train/loop/memory_watch.h"
#include "temper/train/metrics/meter.h"
#include "temper/train/run/doubts.h"
#include "temper/train/run/kept_model.h"
#include "temper/train/run/prepare_run.h"
#include "temper/train/run/resume_rules.h"
#include "temper/train/run/run_contents.h"
#include "temper/train/run/run_events.h"
#include "temper/train/setup/model_choice.h"
#include "temper/train/watch/hang.h"

namespace temper::train {
namespace {

// The error that ended the run is worth more than one of the journal's disk.
void sync_if_it_can(journal::Journal& journal) {
  try {
    journal.sync();
  } catch (const Error& error) {
    log::warn(error.what());
  }
}

// One run. The steps of run() are its functions, in their order; members are
// in the order in which they come to be, so that threads end before the lock
// goes.
class Run {
 public:
  explicit Run(const RunRequest& asked)
      : request_(asked),
        observer_(asked.observer != nullptr ? *asked.observer : nobody_),
        heartbeats_(
            asked.heartbeats != nullptr ? *asked.heartbeats : own_beats_) {}

  void find_where_it_stopped();
  void prepare_parts();
  void make_directory();
  void keep_what_it_is();
  void open_journal();
  void tell_the_beginning();
  void open_checkpoints();
  void train();
  void leave_artifacts();
  void tell_the_end();

  RunResult result() {
    return std::move(result_);
  }

 private:
  bool goes_on() const {
    return from_.has_value();
  }
  const checkpoint::Snapshot* snapshot() const {
    return from_ && from_->snapshot ? &*from_->snapshot : nullptr;
  }
  void take(const journal::RunDirectory& directory);
  void say_what_it_does();
  void write_about();
  void keep_changes();
  void check_length() const;
  void tell(const journal::Event& event);
  std::optional<plan::Expected> planned_step() const;
  void forget_plan() const;
  std::optional<journal::Event> news();
  std::function<void(int)> thread_setter() const;
  LoopParts loop_parts();
  RunWatchParts watch_parts();
  void stopped_half_way(const HalfDone& error);
  void leave_trace(std::int64_t update);
  std::int64_t last_update() const {
    return std::max<std::int64_t>(heartbeats_.update, 0);
  }

  const Meter::Clock::time_point begin_ = Meter::Clock::now();
  RunRequest request_; // its config becomes the run's own
  RunObserver nobody_;
  RunObserver& observer_;
  Heartbeats own_beats_;
  Heartbeats& heartbeats_;
  RunResult result_;
  std::optional<journal::RunLock> lock_;
  std::optional<ResumePoint> from_; // no value: the run begins
  std::unique_ptr<RunParts> parts_; // what is in it refers to its neighbours
  std::optional<journal::Journal> journal_;
  std::string writer_;
  std::optional<checkpoint::Store> store_;
  std::optional<machine::Gauges> gauges_;
  std::optional<machine::SystemWatch> system_;
  Mailbox mailbox_;
  std::optional<machine::KeepAwake> awake_;
};

void Run::take(const journal::RunDirectory& directory) {
  result_.directory = directory;
  lock_.emplace(directory);
  observer_.directory_ready(directory);
}

void Run::find_where_it_stopped() {
  if (!request_.resume) return;
  observer_.opening_directory();
  take({*request_.resume});
  from_ =
      find_resume_point(result_.directory, request_.changes, request_.machine);
  request_.config = from_->now;
}

void Run::prepare_parts() {
  if (request_.own_model.empty())
    request_.config = with_models_batch(std::move(request_.config));
  parts_.reset(
      new RunParts(prepare(request_, from_ ? &*from_ : nullptr, false)));
  if (machine::is_sim(request_.config.device))
    set_up_sim(request_.config.sim, true);
  result_.overview = parts_->overview;
}

void Run::make_directory() {
  if (goes_on()) return;
  say_what_it_does();
  observer_.opening_directory();
  take(journal::make_run_directory(
      request_.config.run.dir,
      request_.config.run.name,
      parts_->overview.engine.model,
      parts_->overview.source));
}

// The run's own config is what it does.
void Run::say_what_it_does() {
  config::Config& config = request_.config;
  if (request_.factories.open_data)
    config.data.source = parts_->overview.source;
  config.guard.rollback = std::min<std::int64_t>(
      config.guard.rollback,
      static_cast<std::int64_t>(parts_->overview.copies.good_states));
  if (request_.own_model.empty() && config.model.name.empty()) {
    const auto choice = choose_zoo_model(config, parts_->data);
    config.model.name = choice.name;
    config.model.stem = choice.stem;
    config.model.width = choice.width;
    config.model.weights = parts_->model.weights;
  }
}

void Run::keep_what_it_is() {
  if (goes_on()) {
    check_length();
    keep_changes();
  } else {
    write_about();
  }
  // Without a checkpoint it begins again, with the data that is there now.
  if (snapshot() == nullptr ||
      !std::filesystem::exists(result_.directory.data()))
    keep_contents(result_.directory, parts_->data);
  keep_model(parts_->model, result_.directory);
  parts_->model.unfrozen
      .reset(); // its weights are not those of the run for long
}

void Run::write_about() {
  const journal::RunDirectory& directory = result_.directory;
  write_file_atomically(directory.config(), config::to_toml(request_.config));
  write_file_atomically(
      directory.schema(), data::to_json(*parts_->data.schema));
  write_file_atomically(
      directory.machine(), machine::to_json(request_.machine));
  write_file_atomically(directory.plan(), plan_json(parts_->overview) + "\n");
}

// The length may be another, if that changes nothing of what was done.
void Run::check_length() const {
  if (snapshot() != nullptr)
    train::check_length(
        from_->was,
        from_->now,
        parts_->train->batches_per_epoch(),
        Progress::from_json(snapshot()->loop),
        result_.directory.path.string());
}

// So that the next resume goes on from here.
void Run::keep_changes() {
  const journal::RunDirectory& directory = result_.directory;
  const auto changed = changed_keys(from_->was, from_->now);
  if (!changed.empty()) {
    log::note(cat("the run goes on with another ", join(changed, ", "), "."));
    write_file_atomically(directory.config(), config::to_toml(from_->now));
  }
  if (!std::filesystem::exists(directory.machine())) // lost: as it is now
    write_file_atomically(
        directory.machine(), machine::to_json(request_.machine));
  if (from_->schema == nullptr) // lost, or of a version that had none
    write_file_atomically(
        directory.schema(), data::to_json(*parts_->data.schema));
  if (from_->new_settings)
    write_file_atomically(directory.plan(), plan_json(parts_->overview) + "\n");
}

void Run::open_journal() {
  journal_.emplace(result_.directory.journal());
  writer_ = writer_json(request_, parts_->overview);
}

void Run::tell(const journal::Event& event) {
  journal_->append(event);
  observer_.event(event);
}

void Run::tell_the_beginning() {
  const double prepare_s = seconds_since(begin_);
  if (!goes_on() || !cut_journal(*journal_, result_.directory, *from_))
    tell(run_event(
        result_.directory.name(),
        request_,
        parts_->overview,
        writer_,
        prepare_s));
  if (goes_on()) {
    warn_of_other_writer(*from_, writer_);
    tell(resume_event(
        snapshot() == nullptr ? 0 : snapshot()->update,
        writer_,
        request_.origin,
        prepare_s));
  }
  tell(forecast_event(parts_->overview.forecast));
  for (const journal::Event& event : journal::missing_aside(result_.directory))
    tell(event);
  observer_.started(result_.directory, parts_->overview, request_.config);
}

void Run::open_checkpoints() {
  store_.emplace(
      result_.directory.checkpoints(),
      checkpoint::Retention{
          static_cast<int>(request_.config.checkpoint.keep_last),
          static_cast<int>(request_.config.checkpoint.keep_best)});
  if (snapshot() != nullptr) store_->recover(*snapshot());
}

// The plan's promise for one step; features that are kept make other steps.
std::optional<plan::Expected> Run::planned_step() const {
  if (!parts_->plan_memory || !request_.config.model.freeze.empty())
    return std::nullopt;
  return plan::expected_of(parts_->overview.settings);
}

void Run::forget_plan() const {
  try {
    if (parts_->plan_memory)
      parts_->plan_memory->cache.clear(parts_->plan_memory->key.text());
  } catch (const Error& error) {
    log::detail(error.what()); // it ages, too
  }
}

// From other threads, and of the machine.
std::optional<journal::Event> Run::news() {
  auto mail = mailbox_.take();
  return mail ? mail : system_event(system_->due());
}

// Null where another number of threads would give other bits, or was asked for.
std::function<void(int)> Run::thread_setter() const {
  if (!parts_->overview.kernels.any_threads || request_.config.threads)
    return nullptr;
  return [](int threads) { libtorch::set_threads(threads, 1); };
}

LoopParts Run::loop_parts() {
  return {
      .config = request_.config,
      .engine = *parts_->engine,
      .train = *parts_->train,
      .val = parts_->val.get(),
      .test = parts_->test.get(),
      .journal = *journal_,
      .checkpoints = *store_,
      .writer = writer_,
      .observer = request_.observer,
      .gauge = [this] { return gauges_->read(); },
      .system = [this] { return news(); },
      .around = plan::surroundings_of(request_.machine),
      .threads = parts_->overview.settings.setting().threads,
      .set_threads = thread_setter(),
      .planned = planned_step(),
      .forget_plan = [this] { forget_plan(); },
      .stop = request_.control.stop,
      .save_now = request_.control.save_now,
      .heartbeats = &heartbeats_,
      .governor = memory::Governor(governor_options(
          request_.config, parts_->overview.engine, parts_->overview.forecast)),
      .forecast = parts_->overview.forecast,
      .one_copy = parts_->overview.copies.checkpoints < 2};
}

RunWatchParts Run::watch_parts() {
  return {
      heartbeats_,
      request_.config.watchdog.seconds,
      result_.directory,
      parts_->train.get(),
      parts_->val.get(),
      request_.control.give_up,
      request_.trackers,
      &mailbox_};
}

void Run::train() {
  gauges_.emplace();
  system_.emplace(
      request_.config.track.system_seconds,
      request_.machine.memory.physical_bytes);
  const LoopParts loop = loop_parts();
  awake_.emplace(cat("temper trains ", parts_->model.name));
  try {
    const RunWatch watch(watch_parts());
    result_.outcome = run_loop(loop, snapshot());
  } catch (const HalfDone& error) {
    stopped_half_way(error);
  } catch (const std::exception& error) {
    leave_trace(last_update());
    tell(journal::failed_event(error.what()));
    sync_if_it_can(*journal_);
    throw;
  }
}

// The state in memory is lost, but the checkpoint is whole.
void Run::stopped_half_way(const HalfDone& error) {
  log::warn(cat(error.what(), " ", error.hint()));
  result_.outcome.ending = Ending::kStopped;
  result_.outcome.updates = last_update();
  result_.outcome.best = std::nan("");
  result_.outcome.start_again = true;
}

void Run::leave_artifacts() {
  if (result_.outcome.ending != Ending::kStopped)
    for (const std::string& doubt : doubts_after(
             request_.config,
             result_.outcome.train,
             result_.outcome.val,
             result_.overview.classes))
      tell(note_event(doubt, result_.outcome.updates));
  for (const std::string& path : observer_.finishing(result_))
    tell(journal::artifact_event(path, result_.outcome.updates));
  while (auto mail = mailbox_.take())
    tell(*std::move(mail));
  leave_trace(result_.outcome.updates);
}

void Run::leave_trace(std::int64_t update) {
  try {
    tell(journal::artifact_event(
        journal::write_trace(result_.directory), update));
  } catch (const std::exception& error) {
    log::warn(cat("the run's trace was not kept: ", error.what()));
  }
}

void Run::tell_the_end() {
  tell(end_event(result_.outcome, result_.overview));
  journal_->sync();
  observer_.ended(result_.outcome);
}

RunResult run_to_its_end(const RunRequest& request) {
  Run run(request);
  run.find_where_it_stopped(); // a run that is resumed
  run.prepare_parts(); // data, model, plan, engine, batches
  run.make_directory(); // of a run that begins
  run.keep_what_it_is(); // config, schema, plan, contents, model
  run.open_journal();
  run.tell_the_beginning(); // and what a crash left to be said
  run.open_checkpoints();
  run.train();
  run.leave_artifacts();
  run.tell_the_end();
  return run.result();
}

} // namespace

RunOverview plan_run(const RunRequest& asked) {
  RunRequest request = asked;
  if (request.own_model.empty())
    request.config = with_models_batch(std::move(request.config));
  RunParts parts = prepare(request, nullptr, true);
  if (machine::is_sim(request.config.device) &&
      request.config.model.freeze.empty()) {
    parts.train->start(0);
    if (const data::HostBatch* batch = parts.train->next())
      parts.overview.fit = fit_on_sim(
          *parts.engine, *batch, request.config.sim.memory.bytes.value_or(0));
  }
  return parts.overview;
}

RunResult run(const RunRequest& request) {
  RunResult result = run_to_its_end(request);
  if (request.observer != nullptr) request.observer->finished(result);
  return result;
}

} // namespace temper::train
