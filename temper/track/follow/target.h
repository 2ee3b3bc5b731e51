// Where a run is delivered to: what the config and MLflow's own variables say,
// understood and checked before anything is opened.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/track/follow/journal_delivery.h"
#include "temper/track/tracker.h"

namespace temper::track {

// The keys of [track], and the variables they give way to.
struct Options {
  // "auto": MLFLOW_TRACKING_URI, or mlflow.db beside the runs. "off", or
  // sqlite:///FILE, file:FOLDER, http(s)://SERVER.
  std::string mlflow = "auto";
  std::string experiment; // empty: MLflow's variables, or "temper"
  std::string parent; // a run of ours, or MLflow's id of one; empty: none
  std::string tensorboard = "off"; // "on": in the run's directory; a folder
  // Reads histograms, which TensorBoard gets of every checkpoint; empty: none.
  ReadHistograms histograms;
  double slow_s = 5; // a place that takes longer to answer is silent, and lags
  Environment environment; // current_environment(), or a test's
};

struct Target {
  enum class Kind { sqlite, file, http, tensorboard };
  Kind kind = Kind::sqlite;
  std::filesystem::path path; // of sqlite, file and tensorboard; absolute
  std::string url; // of http; may hold a password
  std::string shown; // for people and files: holds none
  // A name for this place among those of a run: a part of a file name.
  std::string id() const;
};

// The target at an address as MLflow writes them. Error when it is none that
// can be written, with what can.
Target parse_target(
    const std::string& uri,
    const std::filesystem::path& relative_to = ".");

// All of a run's. Error when a key of the config makes no sense; one that holds
// a password is refused, as the config goes into files that are shared.
std::vector<Target> targets_of(
    const Options& options,
    const std::filesystem::path& run_directory);
// The same before there is a run directory.
void check_options(const Options& options);

FollowOptions follow_options(const Options& options, const Target& target);

std::unique_ptr<Tracker> make_tracker(
    const Target& target,
    const Options& options);

// user:password@ before a host, taken out.
std::string without_secrets(const std::string& url);

} // namespace temper::track
