// Signals as something to wait for: those a supervisor passes on (SIGINT,
// SIGTERM, SIGHUP, SIGUSR1) and the end of its child. One at a time.
#pragma once

#include <array>
#include <csignal>

#include "temper/base/file/descriptor.h"

namespace temper::supervise {

class Inbox {
 public:
  static constexpr std::array<int, 4> kPassedOn{
      SIGINT,
      SIGTERM,
      SIGHUP,
      SIGUSR1};

  // One that is ignored already (nohup) stays so, here and in the child.
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Waits until a signal comes, or for so long.
  void wait(double seconds) const;
  // The number of such signals that have come.
  int count(int signal) const;

 private:
  Pipe pipe_;
  std::array<struct sigaction, kPassedOn.size() + 1> before_{};
};

} // namespace temper::supervise
