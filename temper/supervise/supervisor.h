// A small parent for a trainer. It starts it, stays out of its way, and when it
// dies an unnatural death says why and starts it again from its checkpoint.
//
// The trainer is another process of the same program, by spawn and exec, in the
// same process group and on the same terminal: what is typed and printed is
// its own. A signal that did not reach both (kill PID, rather than Ctrl-C) is
// passed on. The supervisor itself may be killed: its trainer then finishes
// alone, since a run should finish.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"

namespace temper::supervise {

// The last word of a trainer about where it is.
struct Whereabouts {
  std::optional<std::filesystem::path> run; // its directory
  std::int64_t update = -1; // under way; -1: none yet
  std::int64_t saved = -1; // updates of its last checkpoint; -1: none
  std::string doing;
};

struct TrainerStart {
  std::function<std::string()> program; // asked before each start
  std::string name = "temper"; // that the program is started by
  std::vector<std::string> arguments; // of the first start, without the name
  // The arguments of later starts, once there is a run to go on with.
  std::function<std::vector<std::string>(const std::filesystem::path&)> resume;
  Environment extra; // for the trainer, beside our own
  // It begins with those blocked that are passed on, and lets them in when it
  // listens. Otherwise one that comes while it loads its libraries ends it.
  bool listens_late = false;
  std::function<void()> begin; // before each start
  std::function<Whereabouts()> ask;
  std::function<void()> look; // about once a second while it runs
  // How many of a signal the trainer has noticed since it was started.
  std::function<int(int)> noticed;
  std::function<void(const std::string&)> say;
  double wait_scale = 1; // of the waits between two starts
};

// The end of the last trainer, or of the supervisor that gave up.
struct SupervisedEnd {
  int code = 0;
  int signal = 0; // not 0: of that signal
};

// Error when the program cannot be started.
SupervisedEnd supervise(const TrainerStart& assignment);

} // namespace temper::supervise
