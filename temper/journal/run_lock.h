// The lock of a run, which one process at a time trains. It is the system's
// (flock) on a file in the run directory, so it goes with its process, however
// that ends.
#pragma once

#include "temper/base/file/descriptor.h"
#include "temper/journal/run_directory.h"

namespace temper::journal {

class RunLock {
 public:
  // Error when another process has it, with that process's number.
  explicit RunLock(const RunDirectory& directory);

 private:
  Descriptor file_;
};

// Whether a process has it at this moment. Whoever only asks leaves no mark,
// and makes nobody wait.
bool is_trained_now(const RunDirectory& directory);

} // namespace temper::journal
