// The cost of tracking: a million points into SQLite, and the share of a
// training step that a follower takes. Prints both. make bench-track
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temper/base/clock.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/machine/system_watch.h"
#include "temper/track/follow/tracking.h"

namespace {

namespace fs = std::filesystem;
using namespace temper;
using Clock = std::chrono::steady_clock;

// CPU time of all threads: a follower takes its share from training.
double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
        static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double clock_s(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
      static_cast<double>(now.tv_nsec) * 1e-9;
}

// CPU time of all threads but this one.
double others_cpu_s() {
  return clock_s(CLOCK_PROCESS_CPUTIME_ID) - clock_s(CLOCK_THREAD_CPUTIME_ID);
}

journal::RunDirectory make_run(
    const fs::path& parent,
    const std::string& name) {
  const journal::RunDirectory run{parent / name};
  fs::create_directories(run.artifacts());
  journal::Journal journal(run.journal());
  journal.append(
      {"run", 0, {{"name", name}, {"config", std::string("seed = 1\n")}}});
  return run;
}

journal::Event step_event(std::int64_t step) {
  return {
      "step",
      0,
      {{"step", step},
       {"epoch", step / 1000},
       {"loss", 1.0 / static_cast<double>(step + 1)},
       {"lr", 0.001},
       {"grad_norm", 0.5},
       {"samples_per_s", 1234.5},
       {"wait", 0.01},
       {"micro_batch", std::int64_t{64}},
       {"memory_bytes", std::int64_t{1} << 30}}};
}

void million_points(const fs::path& folder) {
  constexpr std::int64_t kPoints = 1'000'000;
  constexpr std::int64_t kPerLine = 7;
  const auto run = make_run(folder / "runs", "million");
  {
    journal::Journal journal(run.journal());
    for (std::int64_t step = 0; step < kPoints / kPerLine + 1; ++step)
      journal.append(step_event(step));
  }
  track::Options options;
  const auto target = track::targets_of(options, run.path).at(0);
  const double cpu = cpu_s();
  const auto begin = Clock::now();
  const auto delivered =
      track::deliver_run(run.path, target, options, track::Status::finished);
  std::printf(
      "export to SQLite: %s points in %.1f s (%.1f s of CPU time)\n",
      count_text(delivered.points).c_str(),
      seconds_since(begin),
      cpu_s() - cpu);
}

// The arithmetic of a small network's step, always the same.
double busy_work(std::int64_t rounds) {
  double sum = 0;
  for (std::int64_t round = 0; round < rounds; ++round)
    for (int i = 1; i < 1000; ++i)
      sum += std::sqrt(static_cast<double>(i) + sum);
  return sum;
}

std::int64_t rounds_in(double seconds) {
  constexpr std::int64_t kTrial = 20'000;
  const double begin = cpu_s();
  if (busy_work(kTrial) < 0) return 0;
  return static_cast<std::int64_t>(kTrial * seconds / (cpu_s() - begin));
}

constexpr int kSteps = 500;

// CPU time of the whole process for a step, one in ten of them logged.
double step_cpu_s(
    journal::Journal& journal,
    machine::SystemWatch* system,
    std::int64_t rounds) {
  const double begin = cpu_s();
  for (int step = 1; step <= kSteps; ++step) {
    if (busy_work(rounds) < 0) return 0;
    if (step % 10 == 0) journal.append(step_event(step));
    const auto reading = system == nullptr ? std::nullopt : system->due();
    if (!reading) continue;
    journal::Event event{"system", 0, {}};
    for (const auto& [name, value] : *reading)
      event.fields.emplace_back(name, value);
    journal.append(event);
  }
  return (cpu_s() - begin) / kSteps;
}

// The same steps with and without followers, by turns.
void share_of_a_step(const fs::path& folder, double step_s) {
  constexpr int kTurns = 7;
  const std::int64_t rounds = rounds_in(step_s);
  std::vector<double> shares;
  std::vector<double> threads; // the followers' own clocks: without the noise
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto plain = make_run(folder / "runs", cat("plain", turn));
    const auto tracked = make_run(folder / "runs", cat("tracked", turn));
    journal::Journal plain_journal(plain.journal());
    journal::Journal tracked_journal(tracked.journal());
    const double without = step_cpu_s(plain_journal, nullptr, rounds);
    machine::SystemWatch system(10, std::uint64_t{1} << 34);
    const auto tracking = track::start(tracked.path, {});
    const double begin = others_cpu_s();
    const double with = step_cpu_s(tracked_journal, &system, rounds);
    shares.push_back(with / without - 1);
    threads.push_back((others_cpu_s() - begin) / kSteps / without);
  }
  std::sort(shares.begin(), shares.end());
  std::sort(threads.begin(), threads.end());
  std::printf(
      "a step of %.0f ms, one in ten logged: tracking adds %.2f %% of CPU time "
      "(median of %d turns; %.2f to %.2f); "
      "the followers' threads take %.2f %% (%.2f to %.2f)\n",
      step_s * 1000,
      shares[kTurns / 2] * 100,
      kTurns,
      shares.front() * 100,
      shares.back() * 100,
      threads[kTurns / 2] * 100,
      threads.front() * 100,
      threads.back() * 100);
}

} // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // each line as it is known
  const fs::path folder =
      fs::temp_directory_path() / cat("temper-bench-track-", ::getpid());
  million_points(folder);
  share_of_a_step(folder, 0.01);
  fs::remove_all(folder);
}
