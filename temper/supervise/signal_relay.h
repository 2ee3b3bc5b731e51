// Which signals a supervisor hands on to its trainer, and when. Ctrl-C reaches
// the trainer by itself, kill does not. Who got it cannot be asked of every
// system, so the trainer counts what it notices, and what is missing after a
// moment is sent. No clock, no process.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "temper/supervise/inbox.h"

namespace temper::supervise {

class SignalRelay {
 public:
  static constexpr double kGrace_s = 0.2;

  // How many of a signal there were.
  using Count = std::function<int(int signal)>;

  // For another trainer. A wish for a checkpoint was the last one's; a wish to
  // stop, had it come before this start, would have prevented it.
  void begin(const Count& came);
  // Those to send now, each once: two at once are one to the trainer. `noticed`
  // counts since the trainer was started.
  std::vector<int> due(const Count& came, const Count& noticed, double now_s);
  // Something is to be sent in a moment.
  bool is_waiting() const {
    return waiting_;
  }

 private:
  struct Kind {
    int before = 0; // came before this trainer
    int seen = 0;
    int sent = 0;
    double since_s = 0; // of the last that was seen or sent
  };
  std::array<Kind, Inbox::kPassedOn.size()> kinds_{};
  bool waiting_ = false;
};

} // namespace temper::supervise
