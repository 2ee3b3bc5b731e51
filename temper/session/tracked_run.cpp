#include "temper/session/tracked_run.h"

#include "temper/base/environment.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/journal/run_lock.h"
#include "temper/journal/trace.h"
#include "temper/session/checkpoint_histograms.h"
#include "temper/track/follow/parent.h"

namespace temper::session {

track::Options track_options(const config::Config& config) {
  track::Options options;
  options.mlflow = config.track.mlflow;
  options.experiment = config.track.experiment;
  options.parent = config.track.parent;
  options.tensorboard = config.track.tensorboard;
  options.environment = current_environment();
  if (config.track.histograms) options.histograms = checkpoint_histograms;
  return options;
}

config::Config with_checked_tracking(config::Config config) {
  track::check_options(track_options(config));
  config.track.parent =
      track::lasting_parent(config.track.parent, config.run.dir);
  track::check_parent(track_options(config), config.run.dir);
  return config;
}

std::optional<track::Status> status_without_end(
    const journal::RunDirectory& run) {
  try {
    const journal::RunLock lock(run);
    return track::Status::killed;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void leave_trace(const journal::RunDirectory& run) {
  try {
    if (status_without_end(run)) journal::refresh_trace(run);
  } catch (const std::exception& error) {
    log::warn(cat("the run's trace was not kept: ", error.what()));
  }
}

TrackedRun::~TrackedRun() {
  finish(track::Status::failed, kPatience_s);
}

void TrackedRun::begin(
    const journal::RunDirectory& run,
    const config::Config& config) {
  begun_ = true;
  run_ = run;
  tracking_ = track::start(run.path, track_options(config));
}

void TrackedRun::begin_if_written(const journal::RunDirectory& run) {
  std::error_code failed;
  // A resume writes again what was lost of it.
  if (begun_ || !std::filesystem::exists(run.journal(), failed) ||
      !std::filesystem::exists(run.config(), failed))
    return;
  begun_ = true; // tried once, and said once
  try {
    begin(run, config::load(run.config(), {}).config);
  } catch (const std::exception& error) { // the run goes on without trackers
    log::warn(cat("the run is not tracked: ", error.what()));
  }
}

void TrackedRun::beat(train::Heartbeat& heartbeat) {
  if (!tracking_) return;
  awaited_ = tracking_->silent();
  if (awaited_.empty())
    heartbeat.beat(train::Phase::resting);
  else
    heartbeat.phase = train::Phase::tracker;
}

std::string TrackedRun::awaited() const {
  return join(awaited_, ", ");
}

Backlog TrackedRun::backlog() {
  Backlog sum;
  if (!tracking_) return sum;
  for (const track::Lag& lag : tracking_->lag())
    (lag.kind == track::Target::Kind::tensorboard ? sum.tensorboard
                                                  : sum.mlflow) += lag.lines;
  return sum;
}

std::vector<std::string> TrackedRun::places() const {
  return tracking_ ? tracking_->places() : std::vector<std::string>{};
}

std::vector<std::string> TrackedRun::finish(
    track::Status status,
    double patience_s) {
  if (!tracking_) return {};
  leave_trace(run_);
  // Nobody waits long for a place that was down before: its reason is told.
  const auto left = tracking_->finish(patience_s, status, kShortPatience_s);
  std::vector<std::string> complete;
  for (const track::Lag& lag : left)
    if (lag.command.empty())
      complete.push_back(lag.where);
    else
      log::warn(
          cat("not all of the run is in ",
              lag.where,
              lag.lines > 0
                  ? cat(": ", plural(lag.lines, "line"), " of the journal wait")
                  : "",
              ". Deliver them later: ",
              lag.command));
  tracking_.reset();
  return complete;
}

} // namespace temper::session
