#include "temper/cli/interrupt.h"

namespace temper::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

void note_signal(int) {
  noted = 1;
}

} // namespace

InterruptWatch::InterruptWatch() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  // Once only: whoever presses Ctrl-C twice means it.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &before_int_);
  ::sigaction(SIGTERM, &action, &before_term_);
}

InterruptWatch::~InterruptWatch() {
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
}

bool InterruptWatch::noticed() const {
  return noted != 0;
}

void InterruptWatch::check() const {
  if (noticed()) throw Interrupted("interrupted.");
}

} // namespace temper::cli
