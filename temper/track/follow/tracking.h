// Delivers a run while it goes on: one thread a tracker, never the training
// thread. Needs the run's directory and nothing else of the run, so that it may
// live in another process. A tracker that is down costs nothing but its lag.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "temper/track/follow/target.h"

namespace temper::track {

struct Lag {
  Target::Kind kind = Target::Kind::sqlite;
  std::string where;
  std::int64_t lines = 0; // of the journal, not delivered; 0 while all is well
  std::string why; // reason of the lag; empty: all is well
  std::string hint;
  // The command that delivers the rest later; empty: nothing is left.
  std::string command;
};

class Tracking {
 public:
  Tracking(const std::filesystem::path& run_directory, const Options& options);
  // Gives up what is under way. A call that does not come back even so is left
  // behind with its thread: nobody waits for a disk that hangs.
  ~Tracking();
  Tracking(const Tracking&) = delete;
  Tracking& operator=(const Tracking&) = delete;

  // Cheap enough to be asked all the time.
  std::vector<Lag> lag();
  // The places it delivers to, as people know them.
  std::vector<std::string> places() const;
  // The places where the last delivery has taken longer than Options::slow_s
  // until now.
  std::vector<std::string> silent() const;
  // The run is over, and nothing more will be written to its journal. Waits
  // until all is delivered, at most `seconds`, and at most `failing_s` for a
  // place that takes nothing; no value: as long. `status` is how it ended where
  // the journal does not say: killed, when its process was.
  std::vector<Lag> finish(
      double seconds,
      Status status = Status::failed,
      std::optional<double> failing_s = std::nullopt);

 private:
  class Worker;
  void leave();

  std::vector<std::shared_ptr<Worker>> workers_;
};

// Begins to deliver the run. Error only when the options make no sense.
std::unique_ptr<Tracking> start(
    const std::filesystem::path& run_directory,
    const Options& options);

struct Delivered {
  std::int64_t points = 0; // now
  std::int64_t points_before = 0;
};
// Delivers what there is of a run to one place, here and now. Tries again when
// the place is unavailable, MLFLOW_HTTP_REQUEST_MAX_RETRIES (7) times; then
// Unavailable. `ended` is how it ended if its journal does not say; no value:
// it goes on.
Delivered deliver_run(
    const std::filesystem::path& run_directory,
    const Target& target,
    const Options& options,
    std::optional<Status> ended);

// Seconds before try number `tries` (from 1): MLflow's own rule, 2, 4, 8, ...
// up to 120, and a little chance.
double backoff_s(int tries, double retry_after_s);

} // namespace temper::track
