#include "temper/train/watch/watchdog.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace temper::train {
namespace {

using Clock = std::chrono::steady_clock;

// Often enough to be late by little, seldom enough to cost nothing.
double tick_of(double seconds) {
  return std::clamp(seconds / 16, 0.02, 1.0);
}

} // namespace

Silence::Verdict
Silence::see(std::uint64_t beats, Phase phase, double elapsed_s) {
  const bool excused = phase == Phase::resting || phase == Phase::telling;
  if (beats != beats_ || excused) {
    beats_ = beats;
    silent_s_ = 0;
    warned_ = false;
    told_ = false;
    return Verdict::fine;
  }
  silent_s_ = std::max(silent_s_ + elapsed_s, 0.0);
  if (silent_s_ >= most_s_) {
    if (std::exchange(told_, true)) return Verdict::fine;
    return Verdict::hung;
  }
  if (silent_s_ >= most_s_ / 2) {
    if (std::exchange(warned_, true)) return Verdict::fine;
    return Verdict::slow;
  }
  return Verdict::fine;
}

Watchdog::Watchdog(const Heartbeats& heartbeats, double seconds, Calls calls)
    : heartbeats_(heartbeats),
      seconds_(seconds),
      calls_(std::move(calls)),
      silences_{Silence(seconds), Silence(seconds), Silence(seconds)} {
  if (seconds_ > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ended_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Watchdog::watch() {
  const double tick_s = tick_of(seconds_);
  auto before = Clock::now();
  std::unique_lock lock(mutex_);
  while (!ending_) {
    ended_.wait_for(lock, std::chrono::duration<double>(tick_s));
    if (ending_) return;
    const auto now = Clock::now();
    const std::chrono::duration<double> passed = now - before;
    before = now;
    lock.unlock();
    look(std::min(passed.count(), 2 * tick_s));
    lock.lock();
  }
}

void Watchdog::look(double elapsed_s) {
  if (calls_.look) calls_.look();
  if (calls_.starved_s) elapsed_s -= calls_.starved_s();
  const std::pair<Worker, const Heartbeat*> watched[] = {
      {Worker::training, &heartbeats_.training},
      {Worker::saving, &heartbeats_.saving},
      {Worker::tracking, &heartbeats_.tracking}};
  for (const auto& [worker, heartbeat] : watched) {
    const auto beats = heartbeat->beats.load(std::memory_order_acquire);
    const Phase phase = heartbeat->phase.load(std::memory_order_relaxed);
    Silence& silence = silences_[static_cast<int>(worker)];
    const auto verdict = silence.see(beats, phase, elapsed_s);
    if (verdict == Silence::Verdict::fine) continue;
    const Hang hang{
        worker, phase, heartbeats_.update.load(), silence.silent_s()};
    const auto& call =
        verdict == Silence::Verdict::slow ? calls_.slow : calls_.hung;
    if (call) call(hang);
  }
}

} // namespace temper::train
