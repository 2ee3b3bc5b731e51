// The parent of a trainer: starts a program as a trainer, again when it dies,
// and tells the trackers, which no death of the trainer can end here.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/session/tracked_run.h"
#include "temper/supervise/supervisor.h"

namespace temper::session {

// Whether this process should start a trainer and watch it. False when this is
// the trainer already, TEMPER_SUPERVISE is 0 or a debugger is attached.
bool wants_parent(const Environment& environment);

// The program that is started as a trainer.
struct TrainerProgram {
  std::function<std::string()> path; // asked before each start
  std::string name = "temper"; // that it is started by
  std::vector<std::string> arguments; // without the name
  // The arguments of a trainer that goes on with a run; null: the same as
  // above. Either way TrainerSide::resumes() has the run.
  std::function<std::vector<std::string>(const std::filesystem::path&)> resume;
  Environment variables; // beside our own
  // It begins with signals blocked, and lets them in when it listens.
  bool listens_late = false;
  // A sentence about a trainer that died; null: a warning.
  std::function<void(const std::string&)> say;
};

// Runs it until it has ended for good, and `tracked` follows its run. No value
// when the system gives no shared memory.
std::optional<supervise::SupervisedEnd> run_trainer(
    const TrainerProgram& program,
    TrackedRun& tracked);

// How a run ended whose trainer ended so, and how long its trackers are waited
// for.
track::Status status_of(const supervise::SupervisedEnd& ending);
double patience_of(const supervise::SupervisedEnd& ending);

} // namespace temper::session
