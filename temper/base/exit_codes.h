// How a process of temper ends, as numbers for shells and for the supervisor of
// a trainer.
#pragma once

namespace temper {

enum ExitCode {
  kDone = 0,
  kFailed = 1,
  kUsage = 2, // wrong flags, arguments or config
  kProblemsFound = 3,
  kStopped = 75, // with a checkpoint: resume to go on
  // For the supervisor: a trainer hung or leaks, and wants to be started again.
  kStartAgain = 86,
  kInterrupted = 130,
};

} // namespace temper
