// The logged models of MLflow 3: models with ids of their own beside the run
// that made them, found by search_logged_models and loaded as models:/m-....
// Their files are those that the run keeps as artifacts. There is one for each
// MLmodel file that is delivered; delivered again, it is the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/journal/run_directory.h"
#include "temper/track/mlflow/sqlite.h"
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

// How good it is: the validation of the epoch that it is the model of, and the
// test.
std::vector<Point> model_points(const journal::RunDirectory& run);
// True for a run's tag that MLflow gives its models, too.
bool is_model_tag(const std::string& key);

// The row with the run's settings and how good it is, within the caller's
// transaction, as are the next two. Nothing happens where the database has no
// such tables: it is one for MLflow 2.
void add_logged_model(
    Database& database,
    const LoggedModel& model,
    const std::string& run_id,
    const std::filesystem::path& artifacts,
    const journal::RunDirectory& run);
// The models of runs that were delivered before MLflow 3 made the tables.
void add_missing_models(Database& database);
// The run's directory is another by now.
void move_logged_models(
    Database& database,
    const std::string& run_id,
    const std::filesystem::path& from,
    const std::filesystem::path& to);

// The same in a folder of MLflow's file store.
std::string logged_model_yaml(
    const LoggedModel& model,
    const std::string& run_id,
    const std::string& experiment,
    const std::string& artifact_uri);
std::string model_output_yaml(const LoggedModel& model);

} // namespace temper::track
