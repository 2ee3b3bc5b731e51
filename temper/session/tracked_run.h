// A run as its trackers are told of it: by the process that trains, by the
// parent of one, or later by `temper runs export`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/journal/run_directory.h"
#include "temper/track/follow/tracking.h"
#include "temper/train/watch/heartbeat.h"

namespace temper::session {

track::Options track_options(const config::Config& config);

// The same config, whose track.parent is one that lasts. Error when what it
// says of tracking cannot be.
config::Config with_checked_tracking(config::Config config);

// How a run ended that has no end in its journal; no value while it is being
// trained.
std::optional<track::Status> status_without_end(
    const journal::RunDirectory& run);

// Writes the trace of a run that nobody trains any more, where it has none or
// an old one: whoever was killed left none.
void leave_trace(const journal::RunDirectory& run);

// Lines of the journal that a tracker has not taken; 0 while all is well.
struct Backlog {
  std::int64_t mlflow = 0;
  std::int64_t tensorboard = 0;
};

// Follows a run from when its directory is there until the process leaves,
// however it does.
class TrackedRun {
 public:
  TrackedRun() = default;
  ~TrackedRun();
  TrackedRun(const TrackedRun&) = delete;
  TrackedRun& operator=(const TrackedRun&) = delete;

  void begin(const journal::RunDirectory& run, const config::Config& config);
  // The same with the config that is there, once there is a journal. What goes
  // wrong is a warning.
  void begin_if_written(const journal::RunDirectory& run);
  // Their sign of life, to be given about once a second: none while a tracker
  // is silent.
  void beat(train::Heartbeat& heartbeat);
  // Name of the tracker that has not answered at the last beat; empty if all
  // have.
  std::string awaited() const;
  Backlog backlog();
  // The places it delivers to, as people know them.
  std::vector<std::string> places() const;
  // Waits a little for what is left, and warns how to deliver what was not
  // taken. The places that have all of the run. `status` is how the run ended
  // if its journal does not say.
  std::vector<std::string> finish(
      track::Status status = track::Status::failed,
      double patience_s = kPatience_s);

  // The patience at the end of a run, and of one that somebody wants to stop
  // now.
  static constexpr double kPatience_s = 10;
  static constexpr double kShortPatience_s = 2;

 private:
  bool begun_ = false;
  journal::RunDirectory run_;
  std::unique_ptr<track::Tracking> tracking_;
  std::vector<std::string> awaited_; // at the last beat
};

} // namespace temper::session
