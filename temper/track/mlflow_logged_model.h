// The logged models of MLflow 3: models with ids of their own beside the run
// that made them, found by search_logged_models and loaded as models:/m-....
// Their files are those that the run keeps as artifacts. There is one for each
// MLmodel file that is delivered; delivered again, it is the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "temper/track/sqlite.h"
#include "temper/track/tracker.h"

namespace temper::track {

struct LoggedModel {
  std::string id; // "m-" and 32 hex digits
  std::string name; // "model": the last part of its folder
  std::string folder; // among the run's artifacts
  std::int64_t time_ms = 0;
  std::int64_t step = 0;
};

// No value when the artifact is not a model's MLmodel.
std::optional<LoggedModel> logged_model_of(const Artifact& artifact);

// The row with the run's settings and the validation of the checkpoint that it
// is made of, within the caller's transaction. Left out where the database has
// no such tables: MLflow 2 made it.
void add_logged_model(
    Database& database,
    const LoggedModel& model,
    const std::string& run_id,
    const std::filesystem::path& artifacts);

// The same in a folder of MLflow's file store.
std::string logged_model_yaml(
    const LoggedModel& model,
    const std::string& run_id,
    const std::string& experiment,
    const std::string& artifact_uri);
std::string model_output_yaml(const LoggedModel& model);

} // namespace temper::track
