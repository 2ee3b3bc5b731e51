// Signals as something a command can notice between two pieces of work, so that
// what it was writing is put away before it leaves.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

#include "temper/cli/terminal/command.h"

namespace temper::cli {

// Every signal that is noticed from now on is counted there, by its number: a
// supervisor wants to know which ones arrived. Until the watch ends. Null:
// nowhere.
void count_signals_in(std::atomic<int>* by_number);

// While it lives, the first SIGINT, SIGTERM or SIGHUP is noted. A second SIGINT
// ends the process at once with code 130. SIGUSR1 is a wish, not an end. One
// that was ignored before (nohup) stays so. What a supervisor had the process
// begin with blocked comes now. One watch at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool noticed() const;
  // Throws Interrupted once a signal came.
  void check() const;

  // `sentence` is what is said when the process ends so; a literal.
  //
  // From now on there is nothing to put away: a signal ends the process with
  // this code, also one that came before.
  void leave_at_once(int code, const char* sentence);
  // From now on a signal is noted. Should the process not have ended within
  // seconds, because a step or a disk takes that long, it does with this code.
  void leave_in_time(int code, const char* sentence);
  // Everything is on disk, and only threads have to end: one that hangs does
  // not keep the process from ending with this code within so many seconds.
  void leave_anyway(int code, unsigned seconds);
  // All threads have ended. A signal changes nothing any more, now and later.
  void over();
  // True once for each SIGUSR1, several at once count as one.
  bool take_wish() const;

 private:
  bool over_ = false;
  std::array<struct sigaction, 5> before_{};
};

} // namespace temper::cli
