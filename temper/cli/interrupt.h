// Ctrl-C as something a command can notice between two pieces of work, so that
// what it was writing is put away before it leaves.
#pragma once

#include <csignal>

#include "temper/cli/command.h"

namespace temper::cli {

// While it lives, the first SIGINT or SIGTERM is noted and the next one ends
// the process as ever. One at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool noticed() const;
  // Throws Interrupted once a signal came.
  void check() const;

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

} // namespace temper::cli
