#include "temper/track/tracking.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::track {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// How often the journal is looked at.
constexpr Seconds kEvery{2.0};
constexpr Seconds kRecount{5.0};
// How often a failing place is tried while the user waits for the end.
constexpr Seconds kAtTheEnd{1.0};
// For a call that was given up to come back.
constexpr Seconds kFarewell{1.5};
// A refusal that will not pass by itself; somebody may mend it meanwhile.
constexpr double kAfterRefusal_s = 60;

// MLflow's own variable, default and limit.
int most_retries(const Environment& environment) {
  const auto wanted = parse_int(
      variable(environment, "MLFLOW_HTTP_REQUEST_MAX_RETRIES").value_or(""));
  return static_cast<int>(std::clamp<std::int64_t>(wanted.value_or(7), 0, 10));
}

} // namespace

double backoff_s(int tries, double retry_after_s) {
  constexpr double kLongest_s = 120;
  static thread_local std::mt19937 chance{std::random_device{}()};
  const double jitter = std::uniform_real_distribution<double>(0, 1)(chance);
  const double own = std::min(std::ldexp(1.0, std::min(tries, 10)), kLongest_s);
  return std::max(own + jitter, std::min(retry_after_s, kLongest_s));
}

class Tracking::Worker {
 public:
  // Its thread holds it, too: one that never comes back keeps what it uses.
  static std::shared_ptr<Worker> start(
      const std::filesystem::path& directory,
      const Target& target,
      const Options& options) {
    auto made = std::make_shared<Worker>(directory, target, options);
    made->thread_ = std::thread([made] { made->run(); });
    return made;
  }

  Worker(
      std::filesystem::path directory,
      const Target& target,
      const Options& options)
      : directory_(std::move(directory)),
        target_(target),
        options_(follow_options(options, target)),
        slow_(options.slow_s),
        tracker_(make_tracker(target, options)) {}

  void leave() {
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

  std::optional<UnderWay> under_way() const {
    const std::uint64_t call = call_;
    if (call % 2 == 0) return std::nullopt;
    return UnderWay{target_.shown, call};
  }

  // A delivery that hangs cannot say so itself: whoever asks finds out.
  Lag lag() {
    std::unique_lock lock(mutex_);
    const auto now = Clock::now();
    if (!busy_since_ || now - *busy_since_ < slow_ || now < recount_at_)
      return lag_;
    recount_at_ = now + std::chrono::duration_cast<Clock::duration>(kRecount);
    const std::uint64_t from = delivered_;
    lock.unlock();
    const std::int64_t lines =
        lines_after(journal::RunDirectory{directory_}.journal(), from);
    lock.lock();
    if (!busy_since_ || lines == 0) return lag_;
    if (lag_.why.empty()) {
      lag_.why = cat("[track] ", target_.shown, " does not answer.");
      warn(lag_.why, lines);
    }
    lag_.lines = lines;
    return lag_;
  }

  void finish(Status status) {
    const std::lock_guard lock(mutex_);
    finishing_ = status;
    // A long pause before the next try is over: the user waits.
    retry_at_ = std::min(retry_at_, Clock::now());
    changed_.notify_all();
  }

  Lag wait_until(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return done_; });
    Lag left = lag_;
    if (!done_) {
      if (left.why.empty()) left.why = "there was no time";
      left.command = cat(
          "temper runs export ", directory_.string(), " --to ", target_.shown);
    }
    return left;
  }

 private:
  void run() {
    // Signals are for the thread that started this one.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    {
      const std::lock_guard lock(mutex_);
      lag_.kind = target_.kind;
      lag_.where = target_.shown;
    }
    deliver();
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
  }

  void deliver() {
    while (!leaving()) {
      begin_call();
      try {
        busy(true);
        if (!follow_)
          follow_ = std::make_unique<Follow>(
              journal::RunDirectory{directory_},
              *tracker_,
              target_.id(),
              options_);
        // Asked before the last look at the journal, so that nothing written
        // before finish() is missed.
        const auto finishing = asked_to_finish();
        while (!leaving() && follow_->pump()) {
          delivered();
          begin_call();
        }
        caught_up();
        if (finishing && !leaving()) {
          follow_->close(*finishing);
          end_call();
          done();
          return;
        }
        pause(kEvery.count());
      } catch (const Unavailable& error) {
        failed(error, backoff_s(++tries_, error.retry_after_s()));
      } catch (const Error& error) {
        failed(error, kAfterRefusal_s);
      } catch (const std::exception& error) {
        failed(Error(cat("[track] ", error.what())), kAfterRefusal_s);
      }
    }
  }

  bool leaving() const {
    const std::lock_guard lock(mutex_);
    return leave_;
  }
  std::optional<Status> asked_to_finish() const {
    const std::lock_guard lock(mutex_);
    return finishing_;
  }

  // Odd while one is under way. Only the thread writes it.
  void begin_call() {
    call_ = (call_ | 1) + 2;
  }
  void end_call() {
    call_ = (call_ | 1) + 1;
  }

  void busy(bool now) {
    const std::lock_guard lock(mutex_);
    if (!now) busy_since_.reset();
    if (now && !busy_since_) busy_since_ = Clock::now();
    if (follow_) delivered_ = follow_->state().offset;
  }

  void delivered() {
    tries_ = 0;
    const std::lock_guard lock(mutex_);
    busy_since_ = Clock::now(); // with the next
    delivered_ = follow_->state().offset;
  }

  void caught_up() {
    busy(false);
    tries_ = 0;
    const std::lock_guard lock(mutex_);
    if (!lag_.why.empty() && !leave_)
      log::note(
          cat("track: ", target_.shown, " is there again; nothing was lost"));
    lag_.why.clear();
    lag_.hint.clear();
    lag_.lines = 0;
  }

  static void warn(const std::string& why, std::int64_t lines) {
    log::warn(
        cat(why,
            " Training goes on; ",
            plural(lines, "line"),
            " of the journal wait."));
  }

  void done() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  void failed(const Error& error, double pause_s) {
    busy(false);
    const std::int64_t lines = behind();
    {
      const std::lock_guard lock(mutex_);
      if (leave_) return;
      if (lag_.why != error.what())
        warn(
            cat(error.what(),
                error.hint().empty() ? "" : cat(" ", error.hint())),
            lines);
      lag_.why = error.what();
      lag_.hint = error.hint();
      lag_.lines = lines;
    }
    pause(pause_s);
  }

  std::int64_t behind() const {
    return follow_
        ? follow_->behind()
        : lines_after(journal::RunDirectory{directory_}.journal(), 0);
  }

  // Until the next look. What waits meanwhile is counted anew now and then.
  void pause(double seconds) {
    end_call();
    std::unique_lock lock(mutex_);
    retry_at_ = Clock::now() +
        std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
    // While the user waits for the end, a failing place is tried often.
    if (finishing_)
      retry_at_ = std::min(
          retry_at_,
          Clock::now() +
              std::chrono::duration_cast<Clock::duration>(kAtTheEnd));
    while (!leave_ && Clock::now() < retry_at_) {
      changed_.wait_until(
          lock,
          std::min(
              retry_at_,
              Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(kRecount)));
      if (leave_ || lag_.why.empty()) continue;
      lock.unlock();
      const std::int64_t lines = behind();
      lock.lock();
      lag_.lines = lines;
    }
  }

  const std::filesystem::path directory_;
  const Target target_;
  const FollowOptions options_;
  const Seconds slow_;
  const std::unique_ptr<Tracker> tracker_;
  std::unique_ptr<Follow> follow_; // of the thread
  int tries_ = 0; // of the thread
  std::atomic<std::uint64_t> call_{0};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Lag lag_;
  std::optional<Clock::time_point> busy_since_; // with a delivery
  std::uint64_t delivered_ = 0; // bytes of the journal
  Clock::time_point recount_at_;
  std::optional<Status> finishing_;
  bool leave_ = false;
  bool done_ = false;
  bool left_ = false; // the thread is about to end
  Clock::time_point retry_at_;
  std::thread thread_;
};

Tracking::Tracking(
    std::filesystem::path run_directory,
    const Options& options) {
  try {
    for (const Target& target : targets_of(options, run_directory))
      workers_.push_back(Worker::start(run_directory, target, options));
  } catch (...) {
    leave();
    throw;
  }
}

Tracking::~Tracking() {
  leave();
}

void Tracking::leave() {
  for (const auto& worker : workers_)
    worker->leave();
}

std::vector<UnderWay> Tracking::under_way() const {
  std::vector<UnderWay> all;
  for (const auto& worker : workers_)
    if (auto call = worker->under_way()) all.push_back(*std::move(call));
  return all;
}

std::vector<Lag> Tracking::lag() {
  std::vector<Lag> all;
  for (const auto& worker : workers_)
    all.push_back(worker->lag());
  return all;
}

std::vector<Lag> Tracking::finish(double seconds, Status status) {
  const auto deadline = Clock::now() +
      std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  for (const auto& worker : workers_)
    worker->finish(status);
  std::vector<Lag> left;
  for (const auto& worker : workers_)
    left.push_back(worker->wait_until(deadline));
  return left;
}

std::unique_ptr<Tracking> start(
    const std::filesystem::path& run_directory,
    const Options& options) {
  return std::make_unique<Tracking>(run_directory, options);
}

Delivered deliver_run(
    const std::filesystem::path& run_directory,
    const Target& target,
    const Options& options,
    std::optional<Status> ended) {
  const int retries = most_retries(options.environment);
  const auto tracker = make_tracker(target, options);
  Follow follow(
      journal::RunDirectory{run_directory},
      *tracker,
      target.id(),
      follow_options(options, target));
  Delivered delivered;
  delivered.points_before = follow.state().points;
  int tries = 0;
  for (;;) {
    try {
      while (follow.pump())
        tries = 0;
      if (ended) follow.close(*ended);
      delivered.points = follow.state().points - delivered.points_before;
      return delivered;
    } catch (const Unavailable& error) {
      if (++tries > retries) throw;
      const double wait_s = backoff_s(tries, error.retry_after_s());
      log::note(
          cat(error.what(), " Trying again in ", seconds_text(wait_s), "."));
      std::this_thread::sleep_for(Seconds(wait_s));
    }
  }
}

} // namespace temper::track
