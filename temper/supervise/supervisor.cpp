#include "temper/supervise/supervisor.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>

#include "temper/base/clock.h"
#include "temper/base/error.h"
#include "temper/base/exit_codes.h"
#include "temper/base/log.h"
#include "temper/base/process/spawn.h"
#include "temper/base/text.h"
#include "temper/journal/events.h"
#include "temper/journal/journal.h"
#include "temper/journal/restart_log.h"
#include "temper/journal/run_lock.h"
#include "temper/journal/trace.h"
#include "temper/supervise/death.h"
#include "temper/supervise/inbox.h"
#include "temper/supervise/patience.h"
#include "temper/supervise/signal_relay.h"
#include "temper/supervise/system.h"

namespace temper::supervise {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

pid_t start_trainer(
    const TrainerStart& assignment,
    const std::vector<std::string>& arguments) {
  ProgramStart start;
  start.program = assignment.program();
  start.arguments = {assignment.name};
  start.arguments.insert(
      start.arguments.end(), arguments.begin(), arguments.end());
  start.extra = assignment.extra;
  if (assignment.listens_late)
    start.blocked.emplace(Inbox::kPassedOn.begin(), Inbox::kPassedOn.end());
  std::string why;
  const auto pid = spawn(start, why);
  if (!pid)
    throw Error(
        cat("[supervise] cannot start ", start.program, ": ", why, "."),
        "Run it without a supervisor: --no-supervise.");
  return *pid;
}

class Supervisor {
 public:
  explicit Supervisor(const TrainerStart& assignment) : asked_(assignment) {}

  SupervisedEnd run() {
    std::vector<std::string> arguments = asked_.arguments;
    for (;;) {
      if (asked_.begin) asked_.begin();
      const int status = follow(start_trainer(asked_, arguments));
      if (WIFEXITED(status) && WEXITSTATUS(status) != kStartAgain)
        return {WEXITSTATUS(status), 0};
      if (WIFSIGNALED(status) && is_wish(WTERMSIG(status)))
        return {0, WTERMSIG(status)};
      const Death death = examine(status);
      record(death);
      if (told_to_stop()) return stopped_anyway(death);
      const auto wait_s =
          patience_.after(death.update, where_.saved > saved_before_);
      if (!wait_s) return give_up(death);
      saved_before_ = std::max(saved_before_, where_.saved);
      arguments = next_arguments();
      tell(death, *wait_s);
      pause(*wait_s * asked_.wait_scale);
      if (told_to_stop()) return stopped_anyway(death);
    }
  }

 private:
  // Whoever sends these wants an end, and no other start.
  static bool is_wish(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
        signal == SIGQUIT;
  }
  bool told_to_stop() const {
    return inbox_.count(SIGINT) + inbox_.count(SIGTERM) + inbox_.count(SIGHUP) >
        0;
  }

  // Until it ends; its wait status.
  int follow(pid_t pid) {
    pid_ = pid;
    memory_.clear();
    kills_before_ = memory_kills();
    kernel_ = KernelLog();
    aside_before_ = aside_count();
    relay_.begin([this](int signal) { return inbox_.count(signal); });
    auto gauged = Clock::now();
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(pid, &status, WNOHANG);
      if (ended == pid) return status;
      if (ended < 0 && errno != EINTR)
        throw Error(
            cat("[supervise] lost its trainer: ", std::strerror(errno)));
      pass_on();
      if (seconds_since(gauged) >= 1) {
        gauged = Clock::now();
        gauge();
      }
      inbox_.wait(relay_.is_waiting() ? SignalRelay::kGrace_s : 1.0);
    }
  }

  void pass_on() {
    const auto came = [this](int signal) { return inbox_.count(signal); };
    const auto noticed = [this](int signal) {
      return asked_.noticed ? asked_.noticed(signal) : 0;
    };
    for (const int signal : relay_.due(came, noticed, seconds_since(begun_)))
      ::kill(pid_, signal);
  }

  void gauge() {
    constexpr std::size_t kKept = 60;
    if (const auto bytes = memory_of(pid_)) memory_.push_back(*bytes);
    if (memory_.size() > kKept) memory_.pop_front();
    if (asked_.look) asked_.look();
  }

  Death examine(int status) {
    Whereabouts now = asked_.ask ? asked_.ask() : Whereabouts{};
    if (!now.run) now.run = where_.run; // it died before it could tell
    now.saved = std::max(now.saved, where_.saved);
    where_ = std::move(now);
    Death death;
    if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
    if (WIFEXITED(status)) death.code = WEXITSTATUS(status);
    death.update = where_.update;
    death.doing = where_.doing;
    death.memory_bytes.assign(memory_.begin(), memory_.end());
    const auto kills = memory_kills();
    if (death.signal == SIGKILL && kills && kills_before_)
      death.memory_kills = *kills - *kills_before_;
    if (death.signal != 0) death.kernel = kernel_.about(pid_);
    return death;
  }

  std::size_t aside_count() const {
    if (!where_.run) return 0;
    return journal::all_aside({*where_.run}).size();
  }

  // For the journal; one that ended itself has said why.
  void record(const Death& death) {
    explained_ = false;
    if (!where_.run || !fs::exists(*where_.run)) return;
    explained_ = death.code == kStartAgain && aside_count() > aside_before_;
    if (explained_) return;
    try {
      journal::set_aside({*where_.run}, death_event(death));
    } catch (const Error& error) {
      log::warn(error.what()); // a full disk: the run is worth more than this
    }
  }

  // A run that has not got as far as its journal begins anew, and nothing is
  // left of it.
  std::vector<std::string> next_arguments() {
    if (!where_.run) return asked_.arguments;
    const journal::RunDirectory run{*where_.run};
    if (journal::is_run(run)) return asked_.resume(run.path);
    std::error_code ignored;
    for (const fs::path& each :
         {run.config(),
          run.machine(),
          run.plan(),
          run.lock(),
          run.restarts(),
          run.checkpoints(),
          run.artifacts()})
      fs::remove(each, ignored);
    fs::remove(run.path, ignored);
    where_.run.reset();
    return asked_.arguments;
  }

  std::string sentence(const Death& death) const {
    if (explained_) return "the trainer ended to be started again";
    return cat("the trainer ", describe(death));
  }

  void tell(const Death& death, double wait_s) const {
    asked_.say(cat(
        sentence(death),
        ". It is started again ",
        wait_s > 0 ? cat("in ", seconds_text(wait_s)) : "now",
        where_.saved > 0 ? cat(", from step ", count_text(where_.saved), ".")
                         : ", from the beginning."));
  }

  void pause(double seconds) const {
    const auto begin = Clock::now();
    while (!told_to_stop() && seconds_since(begin) < seconds)
      inbox_.wait(seconds - seconds_since(begin));
  }

  SupervisedEnd stopped_anyway(const Death& death) const {
    const bool can_go_on = where_.saved >= 0;
    asked_.say(
        cat(sentence(death),
            can_go_on ? cat(". It was to stop anyway; --resume goes on from "
                            "step ",
                            count_text(where_.saved),
                            ".")
                      : ". It was to stop anyway."));
    return {can_go_on ? kStopped : kInterrupted, 0};
  }

  SupervisedEnd give_up(const Death& death) const {
    const std::string why =
        cat(sentence(death),
            ". It is not started again: ",
            patience_.verdict(),
            ".");
    asked_.say(
        cat(why,
            " What to do: lower train.batch or memory.budget if memory ran "
            "out, look at the run's journal and restarts.jsonl, then go on "
            "with --resume."));
    close_journal(why);
    return {kFailed, 0};
  }

  void leave_trace(const journal::RunDirectory& run, journal::Journal& journal)
      const {
    try {
      journal.append(journal::artifact_event(
          journal::write_trace(run), std::max<std::int64_t>(where_.update, 0)));
    } catch (const Error& error) {
      log::warn(error.what()); // its end is worth more than this
    }
  }

  // There is no trainer any more that could write its end.
  void close_journal(const std::string& why) const {
    if (!where_.run) return;
    const journal::RunDirectory run{*where_.run};
    if (!fs::exists(run.journal())) return;
    try {
      const journal::RunLock lock(run);
      const auto missing = journal::missing_aside(run);
      journal::Journal journal(run.journal());
      for (const journal::Event& event : missing)
        journal.append(event);
      leave_trace(run, journal);
      journal.append(
          journal::failed_event(why, std::max<std::int64_t>(where_.update, 0)));
      journal.sync();
    } catch (const Error& error) {
      log::warn(error.what());
    }
  }

  const TrainerStart& asked_;
  const Clock::time_point begun_ = Clock::now();
  Inbox inbox_;
  Patience patience_;
  Whereabouts where_; // when it died last
  std::int64_t saved_before_ = -1;
  bool explained_ = false;

  // The trainer that runs.
  pid_t pid_ = -1;
  std::deque<std::uint64_t> memory_;
  std::optional<std::int64_t> kills_before_;
  KernelLog kernel_; // since its start
  std::size_t aside_before_ = 0;
  SignalRelay relay_;
};

} // namespace

SupervisedEnd supervise(const TrainerStart& assignment) {
  return Supervisor(assignment).run();
}

} // namespace temper::supervise
