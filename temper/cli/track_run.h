// What `temper train` and `temper runs export` tell the track room: its keys,
// and where a run came from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/cli/command.h"
#include "temper/config/config.h"
#include "temper/journal/run_directory.h"
#include "temper/track/tracking.h"

namespace temper::cli {

track::Options track_options(const config::Config& config);

// Who started it, where and from which commit, as a JSON object for the
// journal. Values that follow a flag which may hold a secret are left out.
std::string origin_json(const std::vector<std::string>& arguments);

// How a run ended that has no end in its journal: nothing when it is being
// trained.
std::optional<track::Status> status_without_end(
    const journal::RunDirectory& run);

// Follows the run that a command is about to train, from when its directory is
// there until the command leaves, however it does.
class TrackedRun {
 public:
  TrackedRun() = default;
  ~TrackedRun();
  TrackedRun(const TrackedRun&) = delete;
  TrackedRun& operator=(const TrackedRun&) = delete;

  void begin(const journal::RunDirectory& run, const config::Config& config);
  // The same with the config that is there, once there is a journal.
  void begin_if_written(const journal::RunDirectory& run);
  // Waits a little for what is left, says where it went, and how to deliver
  // what did not. `status` is how the run ended if its journal does not say.
  void finish(Console& console, track::Status status = track::Status::failed);

 private:
  std::vector<track::Lag> wait(track::Status status);

  bool begun_ = false;
  std::unique_ptr<track::Tracking> tracking_;
};

} // namespace temper::cli
