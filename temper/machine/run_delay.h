// How long threads of this process were ready to run while other programs had
// the processors. A run that gets no processor is slow, and not hung.
#pragma once

#include <functional>
#include <map>

#include "temper/machine/stacks_system.h"

namespace temper::machine {

using ThreadWaits = std::map<ThreadId, double>; // seconds since its start

// The waits of every thread; empty where the system does not tell (macOS).
ThreadWaits thread_waits();

class RunDelay {
 public:
  explicit RunDelay(std::function<ThreadWaits()> read = thread_waits);

  // Seconds that the thread which waited longest has waited since the last
  // call. The first call gives 0.
  double since_last_s();

 private:
  std::function<ThreadWaits()> read_;
  ThreadWaits before_;
};

} // namespace temper::machine
