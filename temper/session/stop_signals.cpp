#include "temper/session/stop_signals.h"

namespace temper::session {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;
volatile std::sig_atomic_t asked_to_save = 0;
std::atomic<std::atomic<int>*> counts{nullptr};

void note(int signal) {
  if (auto* by_number = counts.load()) by_number[signal].fetch_add(1);
  if (signal == SIGUSR1)
    asked_to_save = 1;
  else
    asked_to_stop = 1;
}

} // namespace

StopSignals::StopSignals(std::atomic<int>* by_number) {
  asked_to_stop = 0;
  asked_to_save = 0;
  counts = by_number;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction before {};
    ::sigaction(kSignals[i], nullptr, &before);
    ours_[i] = before.sa_handler == SIG_DFL;
    if (!ours_[i]) continue;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    if (kSignals[i] == SIGINT) action.sa_flags |= SA_RESETHAND;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (ours_[i]) ::signal(kSignals[i], SIG_DFL);
  counts = nullptr;
}

bool StopSignals::stop() const {
  return asked_to_stop != 0;
}

bool StopSignals::take_save_now() const {
  if (asked_to_save == 0) return false;
  asked_to_save = 0;
  return true;
}

} // namespace temper::session
