#include "temper/cli/terminal/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <cstring>

namespace temper::cli {
namespace {

constexpr int kCaughtSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
constexpr unsigned kPatience_s = 4;
constexpr int kNobody = -1;

volatile std::sig_atomic_t noted = 0;
volatile std::sig_atomic_t wished = 0;
volatile std::sig_atomic_t code_at_once = kNobody;
volatile std::sig_atomic_t code_in_time = kNobody;

std::atomic<std::atomic<int>*> counts{nullptr};

constexpr const char* kInterruptedWord = "interrupted.";
std::atomic<const char*> sentence{kInterruptedWord}; // null: nothing is said

// Everything from here to the watch runs inside a signal handler.
void write_text(const char* text) {
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, text, std::strlen(text));
}

void leave(int code) {
  if (const char* said = sentence) {
    write_text("\ntemper: ");
    write_text(said);
    write_text("\n");
  }
  ::_exit(code);
}

void note_signal(int signal) {
  if (auto* by_number = counts.load()) by_number[signal].fetch_add(1);
  if (signal == SIGUSR1) {
    wished = 1;
    return;
  }
  if (code_at_once != kNobody) leave(code_at_once);
  if (signal == SIGALRM) {
    if (code_in_time != kNobody) leave(code_in_time);
    return;
  }
  // Whoever presses Ctrl-C twice means it; what is half-written is cleaned
  // away by the next start.
  if (noted != 0 && signal == SIGINT) leave(kInterrupted);
  noted = 1;
  if (code_in_time != kNobody) ::alarm(kPatience_s);
}

} // namespace

void count_signals_in(std::atomic<int>* by_number) {
  counts = by_number;
}

InterruptWatch::InterruptWatch() {
  noted = 0;
  wished = 0;
  code_at_once = kNobody;
  code_in_time = kNobody;
  sentence = kInterruptedWord;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART; // a line that is being printed is no error
  for (std::size_t i = 0; i < before_.size(); ++i) {
    ::sigaction(kCaughtSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN)
      ::sigaction(kCaughtSignals[i], &action, nullptr);
  }
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : kCaughtSignals)
    sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

InterruptWatch::~InterruptWatch() {
  counts = nullptr;
  ::alarm(0);
  if (over_) return;
  for (std::size_t i = 0; i < before_.size(); ++i)
    ::sigaction(kCaughtSignals[i], &before_[i], nullptr);
}

bool InterruptWatch::noticed() const {
  return noted != 0;
}

void InterruptWatch::check() const {
  if (noticed()) throw Interrupted(sentence.load());
}

void InterruptWatch::leave_at_once(int code, const char* said) {
  sentence = said;
  code_at_once = code;
  if (noted != 0) leave(code);
}

void InterruptWatch::leave_in_time(int code, const char* said) {
  sentence = said;
  const bool armed = code_in_time != kNobody;
  code_in_time = code;
  code_at_once = kNobody;
  if (noted != 0 && !armed) ::alarm(kPatience_s);
}

void InterruptWatch::leave_anyway(int code, unsigned seconds) {
  sentence = nullptr;
  code_in_time = code;
  ::alarm(seconds);
}

void InterruptWatch::over() {
  ::alarm(0);
  over_ = true;
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  for (const int signal : kCaughtSignals)
    ::sigaction(signal, &action, nullptr);
}

bool InterruptWatch::take_wish() const {
  if (wished == 0) return false;
  wished = 0;
  return true;
}

} // namespace temper::cli
