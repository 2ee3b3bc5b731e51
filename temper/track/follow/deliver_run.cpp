// A run that is there, delivered by whoever asks and while they wait.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/track/follow/tracking.h"

namespace temper::track {
namespace {

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

Delivered deliver_run(
    const std::filesystem::path& run_directory,
    const Target& target,
    const Options& options,
    std::optional<Status> ended) {
  const int retries = most_retries(options.environment);
  const auto tracker = make_tracker(target, options);
  JournalDelivery follow(
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
      std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
    }
  }
}

} // namespace temper::track
