// Signals that end a run with a checkpoint, for programs that have no handlers
// of their own.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace temper::session {

// While it lives, SIGINT, SIGTERM and SIGHUP ask the run to stop, and SIGUSR1
// asks for a checkpoint. A second SIGINT ends the process, as it would without
// this class. A signal that the program handles or ignores itself is left
// alone. One object at a time.
class StopSignals {
 public:
  // Signals that are noticed are counted there, by number; null: nowhere.
  explicit StopSignals(std::atomic<int>* by_number);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool stop() const;
  // True once for each SIGUSR1; several at once count as one.
  bool take_save_now() const;

 private:
  static constexpr std::array<int, 4> kSignals{
      SIGINT,
      SIGTERM,
      SIGHUP,
      SIGUSR1};
  std::array<bool, kSignals.size()> ours_{};
};

} // namespace temper::session
