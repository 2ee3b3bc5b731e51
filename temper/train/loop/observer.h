// The one who watches a run, told of everything in the order in which it
// happens: a terminal, a C++ program, a test. Every verb does nothing unless it
// is overridden, and is called from the thread that called train::run or
// session::train. What a verb throws ends the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"

namespace temper::train {

struct Glimpse; // loop.h
struct Outcome;
struct RunOverview; // run.h
struct RunResult;

class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // The next two come in any order, several times or never. A resumed run has
  // its directory before them, a new one gets it after them.
  //
  // Files are downloaded, features are computed: `done` of `total`.
  virtual void preparing(
      const std::string& /*what*/,
      std::int64_t /*done*/,
      std::int64_t /*total*/) {}
  // Settings are compared: a line for a person.
  virtual void measuring(const std::string& /*what*/) {}

  // A directory is about to be made, or taken over by a resume.
  virtual void opening_directory() {}
  // The directory is there, and this process alone has it from now on.
  virtual void directory_ready(const journal::RunDirectory& /*directory*/) {}
  // All is ready and the journal is open; the first step comes next. The
  // config is the run's own, also when it is resumed.
  virtual void started(
      const journal::RunDirectory& /*directory*/,
      const RunOverview& /*overview*/,
      const config::Config& /*config*/) {}
  // An event was journaled. The first ones come before started().
  virtual void event(const journal::Event& /*event*/) {}
  // A step is done, in training or validation; not journaled.
  virtual void step(const Glimpse& /*glimpse*/) {}
  // The last step is done. Files may be written into the run's directory now;
  // the paths that are returned, relative to it, are journaled as artifacts.
  virtual std::vector<std::string> finishing(const RunResult& /*result*/) {
    return {};
  }
  // Everything is on disk; threads still have to end.
  virtual void ended(const Outcome& /*outcome*/) {}
  // Everything is on disk, and the threads have ended.
  virtual void finished(const RunResult& /*result*/) {}

  // Called by session::train only: the trackers are waited for, at most so
  // long.
  virtual void delivering(
      const std::vector<std::string>& /*places*/,
      double /*patience_s*/) {}
  // A tracker has all of the run.
  virtual void delivered(const std::string& /*place*/) {}
};

} // namespace temper::train
