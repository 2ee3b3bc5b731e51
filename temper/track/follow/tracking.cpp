#include "temper/track/follow/tracking.h"

#include <algorithm>

#include "temper/track/follow/worker.h"

namespace temper::track {

Tracking::Tracking(
    const std::filesystem::path& run_directory,
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

std::vector<std::string> Tracking::places() const {
  std::vector<std::string> all;
  for (const auto& worker : workers_)
    all.push_back(worker->where());
  return all;
}

std::vector<std::string> Tracking::silent() const {
  std::vector<std::string> all;
  for (const auto& worker : workers_)
    if (worker->silent()) all.push_back(worker->where());
  return all;
}

std::vector<Lag> Tracking::lag() {
  std::vector<Lag> all;
  for (const auto& worker : workers_)
    all.push_back(worker->lag());
  return all;
}

std::vector<Lag> Tracking::finish(
    double seconds,
    Status status,
    std::optional<double> failing_s) {
  using Clock = Worker::Clock;
  const auto begin = Clock::now();
  const auto after = [&](double wait_s) {
    return begin +
        std::chrono::duration_cast<Clock::duration>(
               std::chrono::duration<double>(wait_s));
  };
  const auto deadline = after(seconds);
  const auto if_failing = after(std::min(failing_s.value_or(seconds), seconds));
  for (const auto& worker : workers_)
    worker->finish(status);
  std::vector<Lag> left;
  for (const auto& worker : workers_)
    left.push_back(worker->wait_until(deadline, if_failing));
  return left;
}

std::unique_ptr<Tracking> start(
    const std::filesystem::path& run_directory,
    const Options& options) {
  return std::make_unique<Tracking>(run_directory, options);
}

} // namespace temper::track
