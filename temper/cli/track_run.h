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
#include "temper/train/heartbeat.h"

namespace temper::cli {

track::Options track_options(const config::Config& config);

// Who started it, where and from which commit, as a JSON object for the
// journal. Values that follow a flag which may hold a secret are left out.
std::string origin_json(const std::vector<std::string>& arguments);

// How a run ended that has no end in its journal: nothing when it is being
// trained.
std::optional<track::Status> status_without_end(
    const journal::RunDirectory& run);

// A trace of a run that nobody trains any more, where it has none or an old
// one: whoever was killed left none.
void leave_trace(const journal::RunDirectory& run);

// Lines of the journal that a tracker has not taken; 0 while all is well.
struct Backlog {
  std::int64_t mlflow = 0;
  std::int64_t tensorboard = 0;
};
// "mlflow 1,240 behind"; empty when there is none.
std::string backlog_text(const Backlog& backlog);

// Follows the run that a command is about to train, from when its directory is
// there until the command leaves, however it does.
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
  // Whom beat() waits for; empty: nobody.
  std::string awaited() const;
  Backlog backlog();
  // Waits a little for what is left, says where it went, and how to deliver
  // what did not. `status` is how the run ended if its journal does not say.
  void finish(
      Console& console,
      track::Status status = track::Status::failed,
      double patience_s = kPatience_s);

  // At the end of a run, and of one that somebody wants to stop now.
  static constexpr double kPatience_s = 10;
  static constexpr double kShortPatience_s = 2;

 private:
  std::vector<track::Lag> wait(track::Status status, double patience_s);

  bool begun_ = false;
  journal::RunDirectory run_;
  std::unique_ptr<track::Tracking> tracking_;
  std::vector<std::string> awaited_; // at the last beat
};

} // namespace temper::cli
