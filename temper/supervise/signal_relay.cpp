#include "temper/supervise/signal_relay.h"

#include <algorithm>

namespace temper::supervise {

void SignalRelay::begin(const Count& came) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const int signal = Inbox::kPassedOn[i];
    kinds_[i] = {};
    if (signal == SIGUSR1) kinds_[i].before = came(signal);
  }
  waiting_ = false;
}

std::vector<int>
SignalRelay::due(const Count& came, const Count& noticed, double now_s) {
  std::vector<int> signals;
  waiting_ = false;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const int signal = Inbox::kPassedOn[i];
    Kind& kind = kinds_[i];
    const int here = came(signal) - kind.before;
    if (here == 0) continue;
    const int known = std::max(noticed(signal), kind.sent);
    if (known >= here) continue;
    if (kind.seen != here) {
      kind.seen = here;
      kind.since_s = now_s;
    }
    if (now_s - kind.since_s < kGrace_s) {
      waiting_ = true;
      continue;
    }
    signals.push_back(signal);
    kind.sent = known + 1;
    kind.since_s = now_s;
    waiting_ = waiting_ || kind.sent < here;
  }
  return signals;
}

} // namespace temper::supervise
