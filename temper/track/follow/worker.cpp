#include "temper/track/follow/worker.h"

#include <signal.h>

#include <algorithm>

#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::track {
namespace {

using std::chrono::milliseconds;

// How often the journal is looked at.
constexpr double kEvery_s = 2;
constexpr milliseconds kRecount{5000};
// How often a failing place is tried while the user waits for the end.
constexpr milliseconds kAtTheEnd{1000};
// For a call that was given up to come back.
constexpr milliseconds kFarewell{1500};
// A refusal that will not pass by itself; somebody may mend it meanwhile.
constexpr double kAfterRefusal_s = 60;

void warn(const std::string& why, std::int64_t lines) {
  log::warn(
      cat(why,
          " Training goes on; ",
          plural(lines, "line"),
          " of the journal wait."));
}

} // namespace

std::shared_ptr<Tracking::Worker> Tracking::Worker::start(
    const std::filesystem::path& directory,
    const Target& target,
    const Options& options) {
  auto made = std::make_shared<Worker>(directory, target, options);
  made->thread_ = std::thread([made] { made->run(); });
  return made;
}

Tracking::Worker::Worker(
    std::filesystem::path directory,
    const Target& target,
    const Options& options)
    : directory_(std::move(directory)),
      target_(target),
      options_(follow_options(options, target)),
      slow_(options.slow_s),
      tracker_(make_tracker(target, options)) {
  lag_.kind = target_.kind;
  lag_.where = target_.shown;
}

void Tracking::Worker::leave() {
  {
    const std::lock_guard lock(mutex_);
    leave_ = true;
  }
  tracker_->give_up();
  changed_.notify_all();
  std::unique_lock lock(mutex_);
  const bool left = changed_.wait_for(lock, kFarewell, [&] { return left_; });
  lock.unlock();
  if (left)
    thread_.join();
  else
    thread_.detach();
}

bool Tracking::Worker::silent() const {
  const Clock::time_point since = busy_since_;
  return since != kResting && Clock::now() - since >= slow_;
}

Lag Tracking::Worker::lag() {
  std::unique_lock lock(mutex_);
  if (!silent() || Clock::now() < recount_at_) return lag_;
  recount_at_ = Clock::now() + kRecount;
  lock.unlock();
  const std::int64_t lines =
      lines_after(journal::RunDirectory{directory_}.journal(), delivered_);
  lock.lock();
  if (!silent() || lines == 0) return lag_;
  if (lag_.why.empty()) {
    lag_.why = cat("[track] ", target_.shown, " does not answer.");
    warn(lag_.why, lines);
  }
  lag_.lines = lines;
  return lag_;
}

void Tracking::Worker::finish(Status status) {
  const std::lock_guard lock(mutex_);
  finishing_ = status;
  // A long pause before the next try is over: the user waits.
  retry_at_ = std::min(retry_at_, Clock::now());
  changed_.notify_all();
}

Lag Tracking::Worker::wait_until(
    Clock::time_point deadline,
    Clock::time_point if_failing) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, if_failing, [&] { return done_; });
  changed_.wait_until(
      lock, deadline, [&] { return done_ || !lag_.why.empty(); });
  Lag left = lag_;
  if (!done_) {
    if (left.why.empty()) left.why = "[track] there was no time for more.";
    left.command = cat(
        "temper runs export ", directory_.string(), " --to ", target_.shown);
  }
  return left;
}

void Tracking::Worker::run() {
  // Signals are for the thread that started this one.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  deliver();
  const std::lock_guard lock(mutex_);
  left_ = true;
  changed_.notify_all();
}

void Tracking::Worker::deliver() {
  while (!leaving()) {
    try {
      begin_call();
      if (!follow_)
        follow_ = std::make_unique<JournalDelivery>(
            journal::RunDirectory{directory_},
            *tracker_,
            target_.id(),
            options_);
      // Asked before the last look at the journal, so that nothing written
      // before finish() is missed.
      const auto finishing = asked_to_finish();
      while (!leaving() && follow_->pump()) {
        tries_ = 0;
        begin_call();
      }
      caught_up();
      if (finishing && !leaving()) {
        follow_->close(*finishing);
        end_call();
        const std::lock_guard lock(mutex_);
        done_ = true;
        changed_.notify_all();
        return;
      }
      pause(kEvery_s);
    } catch (const Unavailable& error) {
      failed(error, backoff_s(++tries_, error.retry_after_s()));
    } catch (const Error& error) {
      failed(error, kAfterRefusal_s);
    } catch (const std::exception& error) {
      failed(Error(cat("[track] ", error.what())), kAfterRefusal_s);
    }
  }
}

bool Tracking::Worker::leaving() const {
  const std::lock_guard lock(mutex_);
  return leave_;
}

std::optional<Status> Tracking::Worker::asked_to_finish() const {
  const std::lock_guard lock(mutex_);
  return finishing_;
}

void Tracking::Worker::begin_call() {
  if (follow_) delivered_ = follow_->state().offset;
  busy_since_ = Clock::now();
}

void Tracking::Worker::end_call() {
  busy_since_ = kResting;
}

void Tracking::Worker::caught_up() {
  tries_ = 0;
  const std::lock_guard lock(mutex_);
  if (!lag_.why.empty() && !leave_)
    log::note(
        cat("track: ", target_.shown, " is there again; nothing was lost"));
  lag_.why.clear();
  lag_.hint.clear();
  lag_.lines = 0;
}

void Tracking::Worker::failed(const Error& error, double pause_s) {
  end_call();
  const std::int64_t lines = behind();
  {
    const std::lock_guard lock(mutex_);
    if (leave_) return;
    // Another reason of the same outage is no news.
    if (lag_.why.empty())
      warn(
          cat(error.what(), error.hint().empty() ? "" : cat(" ", error.hint())),
          lines);
    lag_.why = error.what();
    lag_.hint = error.hint();
    lag_.lines = lines;
    changed_.notify_all();
  }
  pause(pause_s);
}

std::int64_t Tracking::Worker::behind() const {
  return follow_ ? follow_->behind()
                 : lines_after(journal::RunDirectory{directory_}.journal(), 0);
}

// Until the next look. What waits meanwhile is counted anew now and then.
void Tracking::Worker::pause(double seconds) {
  end_call();
  std::unique_lock lock(mutex_);
  retry_at_ = Clock::now() +
      std::chrono::duration_cast<Clock::duration>(
                  std::chrono::duration<double>(seconds));
  if (finishing_) retry_at_ = std::min(retry_at_, Clock::now() + kAtTheEnd);
  while (!leave_ && Clock::now() < retry_at_) {
    changed_.wait_until(lock, std::min(retry_at_, Clock::now() + kRecount));
    if (leave_ || lag_.why.empty()) continue;
    lock.unlock();
    const std::int64_t lines = behind();
    lock.lock();
    lag_.lines = lines;
  }
}

} // namespace temper::track
