// A run with everything around it, as `temper train` has it: the process is
// prepared for LibTorch, trackers follow the journal, artifacts are left, a
// signal stops it with a checkpoint, and a parent may watch over it. For C++
// programs, and for the command. Nothing is printed, and nothing ends the
// process but what control.give_up and a parent ask for.
//
//   session::Request request;
//   request.config = config::load("net.toml", {}).config;
//   const session::Result result = session::train(request);
//
// docs/cpp.md has the rest; supervised_main.h has the parent.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/session/tracked_run.h"
#include "temper/session/trainer_side.h"
#include "temper/train/run/run.h"

namespace temper::session {

// `machine` may be left empty: it is probed then, and the process prepared as
// machine/startup.h decides. A caller that fills it has done both.
struct Request : train::RunRequest {
  bool artifacts = true; // pictures, the model, the list of checkpoints
  // The words that started the program, for the journal's origin; the program
  // itself comes first. Empty: only the program's name is journaled.
  std::vector<std::string> command;
};

struct Result : train::RunResult {
  int exit_code = 0; // for main() to return, see exit_code()
  std::vector<std::string> tracked; // places that have all of the run
};

// The exit code: 0 when all is done, 75 when the run was stopped with a
// checkpoint, 86 when its supervisor is to start it again.
int exit_code(const train::Outcome& outcome, bool supervised);

// One run of this process, and its parent if it has one. For callers that want
// to ask while it trains; others call train().
class Session {
 public:
  explicit Session(const Environment& environment = current_environment());

  bool supervised() const {
    return side_.has_parent();
  }
  // The counts of noticed signals, by number, where the parent looks for them;
  // null without one.
  std::atomic<int>* signals() const {
    return side_.signals();
  }
  // The part of the run that trackers have not taken, whichever process tells
  // them.
  Backlog backlog();

  // Error when the run cannot be made, or fails.
  Result train(const Request& request);

 private:
  class Watch;
  train::RunRequest run_request(const Request& request) const;
  std::vector<std::string> deliver(int code, train::RunObserver& observer);

  TrainerSide side_;
  TrackedRun tracked_;
};

Result train(const Request& request);

} // namespace temper::session
