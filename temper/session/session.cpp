#include "temper/session/session.h"

#include <filesystem>

#include "temper/base/exit_codes.h"
#include "temper/machine/libraries.h"
#include "temper/machine/probe.h"
#include "temper/machine/startup.h"
#include "temper/session/leave.h"
#include "temper/session/origin.h"
#include "temper/session/run_artifacts.h"
#include "temper/session/stop_signals.h"

namespace temper::session {
namespace {

bool is_probed(const machine::Machine& machine) {
  return machine.cpu.logical > 0;
}

machine::Machine prepared_machine() {
  machine::Machine machine = machine::probe(".");
  machine::apply_startup(
      machine::plan_startup({}, current_environment(), machine));
  return machine;
}

std::string origin_of(const std::vector<std::string>& command) {
  if (!command.empty())
    return origin_json({command.begin() + 1, command.end()}, command.front());
  const std::filesystem::path program = machine::executable_path();
  return origin_json({}, program.filename().string());
}

} // namespace

// Sees the run on behalf of its parent and its trackers, and hands on what the
// caller's observer is told.
class Session::Watch : public train::RunObserver {
 public:
  Watch(Session& session, const Request& request)
      : session_(session),
        request_(request),
        observer_(request.observer != nullptr ? *request.observer : nobody_) {}

  train::RunObserver& observer() const {
    return observer_;
  }

  void preparing(const std::string& what, std::int64_t done, std::int64_t total)
      override {
    observer_.preparing(what, done, total);
  }
  void measuring(const std::string& what) override {
    observer_.measuring(what);
  }
  void opening_directory() override {
    observer_.opening_directory();
  }
  void directory_ready(const journal::RunDirectory& directory) override {
    session_.side_.opened(directory);
    observer_.directory_ready(directory);
  }
  void started(
      const journal::RunDirectory& directory,
      const train::RunOverview& overview,
      const config::Config& config) override {
    config_ = config;
    // A parent does it: it is there when this process is not.
    if (!session_.supervised()) session_.tracked_.begin(directory, config);
    observer_.started(directory, overview, config);
  }
  void event(const journal::Event& event) override {
    session_.side_.see(event);
    observer_.event(event);
  }
  void step(const train::Glimpse& glimpse) override {
    observer_.step(glimpse);
  }
  std::vector<std::string> finishing(const train::RunResult& result) override {
    auto paths = observer_.finishing(result);
    if (request_.artifacts)
      for (std::string& path : write_run_artifacts(result, config_, request_))
        paths.push_back(std::move(path));
    return paths;
  }
  void ended(const train::Outcome& outcome) override {
    observer_.ended(outcome);
  }
  void finished(const train::RunResult& result) override {
    observer_.finished(result);
  }

 private:
  Session& session_;
  const Request& request_;
  train::RunObserver nobody_;
  train::RunObserver& observer_;
  config::Config config_; // the run's own
};

int exit_code(const train::Outcome& outcome, bool supervised) {
  if (outcome.start_again) return supervised ? kStartAgain : kStopped;
  return outcome.ending == train::Ending::kStopped ? kStopped : kDone;
}

Session::Session(const Environment& environment) : side_(environment) {}

Backlog Session::backlog() {
  return supervised() ? side_.backlog() : tracked_.backlog();
}

train::RunRequest Session::run_request(const Request& request) const {
  train::RunRequest made = request;
  if (!is_probed(made.machine)) made.machine = prepared_machine();
  if (!made.resume) made.resume = side_.resumes();
  if (!made.resume) made.config = with_checked_tracking(std::move(made.config));
  if (made.origin == "{}") made.origin = origin_of(request.command);
  if (made.heartbeats == nullptr) made.heartbeats = side_.heartbeats();
  if (supervised() && !made.control.give_up)
    made.control.give_up = [] { leave_at_once(kStartAgain); };
  return made;
}

Result Session::train(const Request& request) {
  train::RunRequest run = run_request(request);
  const StopSignals signals(side_.signals());
  run.control.stop = [&] {
    const auto& asked = request.control.stop;
    return signals.stop() || (asked && asked());
  };
  run.control.save_now = [&] {
    const auto& asked = request.control.save_now;
    return signals.take_save_now() || (asked && asked());
  };
  run.trackers.awaited = [&] {
    return supervised() ? side_.awaited_tracker() : tracked_.awaited();
  };
  if (!supervised())
    run.trackers.pulse = [&](train::Heartbeat& heartbeat) {
      tracked_.beat(heartbeat);
    };
  Watch watch(*this, request);
  run.observer = &watch;
  Result result;
  try {
    static_cast<train::RunResult&>(result) = train::run(run);
  } catch (...) {
    tracked_.finish();
    throw;
  }
  result.exit_code = exit_code(result.outcome, supervised());
  result.tracked = deliver(result.exit_code, watch.observer());
  return result;
}

std::vector<std::string> Session::deliver(
    int code,
    train::RunObserver& observer) {
  const double patience_s =
      code == kDone ? TrackedRun::kPatience_s : TrackedRun::kShortPatience_s;
  const auto places = tracked_.places();
  if (!places.empty()) observer.delivering(places, patience_s);
  auto complete = tracked_.finish(track::Status::failed, patience_s);
  for (const std::string& place : complete)
    observer.delivered(place);
  return complete;
}

Result train(const Request& request) {
  return Session().train(request);
}

} // namespace temper::session
