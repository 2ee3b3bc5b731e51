#include "temper/cli/track_run.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "temper/base/environment.h"
#include "temper/base/log.h"
#include "temper/base/process.h"
#include "temper/base/text.h"
#include "temper/cli/checkpoint_histograms.h"
#include "temper/config/load.h"
#include "temper/journal/run_lock.h"
#include "temper/journal/trace.h"

namespace temper::cli {
namespace {

using nlohmann::json;

std::string user_name() {
  const auto environment = current_environment();
  for (const char* name : {"LOGNAME", "USER"})
    if (const auto user = variable(environment, name); user && !user->empty())
      return *user;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "" : entry->pw_name;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// "# branch.oid <hash>", "# branch.head <name>", then a line a change.
void add_git(json& origin) {
  ProcessLimits limits;
  limits.time = std::chrono::seconds(2);
  const auto asked = run_process(
      {"git", "status", "--porcelain=v2", "--branch", "--untracked-files=no"},
      "",
      limits);
  if (!asked.succeeded()) return;
  bool dirty = false;
  for (const std::string& line : split(asked.out, '\n')) {
    const std::string oid = "# branch.oid ";
    const std::string head = "# branch.head ";
    if (starts_with(line, oid))
      origin["git_commit"] = line.substr(oid.size());
    else if (starts_with(line, head))
      origin["git_branch"] = line.substr(head.size());
    else if (!line.empty() && line.front() != '#')
      dirty = true;
  }
  origin["git_dirty"] = dirty;
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string out = "temper";
  for (const std::string& argument : arguments)
    out += cat(" ", track::without_secrets(argument));
  return out;
}

} // namespace

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

std::string origin_json(const std::vector<std::string>& arguments) {
  json origin{
      {"user", user_name()},
      {"host", host_name()},
      {"pid", static_cast<std::int64_t>(::getpid())},
      {"command", command_line(arguments)}};
  add_git(origin);
  return origin.dump(-1, ' ', false, json::error_handler_t::replace);
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

std::string backlog_text(const Backlog& backlog) {
  std::vector<std::string> parts;
  if (backlog.mlflow > 0)
    parts.push_back(cat("mlflow ", count_text(backlog.mlflow), " behind"));
  if (backlog.tensorboard > 0)
    parts.push_back(
        cat("tensorboard ", count_text(backlog.tensorboard), " behind"));
  return join(parts, ", ");
}

void leave_trace(const journal::RunDirectory& run) {
  try {
    if (status_without_end(run)) journal::refresh_trace(run);
  } catch (const std::exception& error) {
    log::warn(cat("the run's trace was not kept: ", error.what()));
  }
}

TrackedRun::~TrackedRun() {
  wait(track::Status::failed, kPatience_s);
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

std::vector<track::Lag> TrackedRun::wait(
    track::Status status,
    double patience_s) {
  if (!tracking_) return {};
  leave_trace(run_);
  // Nobody waits long for a place that was down before: its reason is told.
  const auto left = tracking_->finish(patience_s, status, kShortPatience_s);
  for (const track::Lag& lag : left)
    if (!lag.command.empty())
      log::warn(
          cat("not all of the run is in ",
              lag.where,
              lag.lines > 0
                  ? cat(": ", plural(lag.lines, "line"), " of the journal wait")
                  : "",
              ". Deliver them later: ",
              lag.command));
  tracking_.reset();
  return left;
}

void TrackedRun::finish(
    Console& console,
    track::Status status,
    double patience_s) {
  if (tracking_)
    console.progress(
        cat("waiting up to ",
            decimals(patience_s, 0),
            " s for ",
            join(tracking_->places(), ", "),
            " ..."));
  for (const track::Lag& lag : wait(status, patience_s))
    if (lag.command.empty() && !console.quiet())
      console.print(cat("  tracked   ", lag.where, "\n"));
}

} // namespace temper::cli
