#include "temper/track/mlflow_logged_model.h"

#include "temper/base/file.h"
#include "temper/base/md5.h"
#include "temper/base/text.h"
#include "temper/track/mlflow_lines.h"
#include "temper/track/yaml.h"

namespace temper::track {
namespace {

constexpr std::int64_t kReady = 2; // in MLflow's count of states

bool has_table(Database& database) {
  auto find = database.prepare(
      "SELECT count(*) FROM sqlite_master WHERE type='table' "
      "AND name='logged_models'");
  return find->step() && find->integer(0) > 0;
}

std::int64_t experiment_of(Database& database, const std::string& run_id) {
  auto find =
      database.prepare("SELECT experiment_id FROM runs WHERE run_uuid=?");
  find->bind(run_id);
  return find->step() ? find->integer(0) : 0;
}

// The update of the run's best checkpoint, "step-12"; -1: none.
std::int64_t best_step(Database& database, const std::string& run_id) {
  auto find = database.prepare(
      "SELECT value FROM tags WHERE key='temper.best_checkpoint' "
      "AND run_uuid=?");
  find->bind(run_id);
  if (!find->step()) return -1;
  const std::string name = find->text(0);
  const auto dash = name.rfind('-');
  return parse_int(name.substr(dash == std::string::npos ? 0 : dash + 1))
      .value_or(-1);
}

} // namespace

std::optional<LoggedModel> logged_model_of(const Artifact& artifact) {
  const std::filesystem::path name = artifact.name;
  if (name.filename() != "MLmodel") return std::nullopt;
  const auto yaml = read_small_file(artifact.file);
  if (!yaml) return std::nullopt;
  LoggedModel model;
  model.id = yaml_value(*yaml, "model_id");
  if (!starts_with(model.id, "m-")) return std::nullopt;
  model.folder = name.parent_path().generic_string();
  model.name = name.parent_path().filename().string();
  model.time_ms = artifact.time_ms;
  model.step = artifact.step;
  return model;
}

void add_logged_model(
    Database& database,
    const LoggedModel& model,
    const std::string& run_id,
    const std::filesystem::path& artifacts) {
  if (!has_table(database)) return;
  const std::int64_t experiment = experiment_of(database, run_id);
  auto insert = database.prepare(
      "INSERT OR IGNORE INTO logged_models (model_id, experiment_id, name, "
      "artifact_location, creation_timestamp_ms, last_updated_timestamp_ms, "
      "status, lifecycle_stage, source_run_id) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, 'active', ?)");
  insert->bind(model.id)
      .bind(experiment)
      .bind(model.name)
      .bind((artifacts / model.folder).string())
      .bind(model.time_ms)
      .bind(model.time_ms)
      .bind(kReady)
      .bind(run_id)
      .run();
  database
      .prepare(
          "INSERT OR IGNORE INTO logged_model_params (model_id, "
          "experiment_id, param_key, param_value) "
          "SELECT ?, ?, key, value FROM params WHERE run_uuid=?")
      ->bind(model.id)
      .bind(experiment)
      .bind(run_id)
      .run();
  database
      .prepare(
          "INSERT OR IGNORE INTO logged_model_tags (model_id, experiment_id, "
          "tag_key, tag_value) SELECT ?, ?, key, value FROM tags "
          "WHERE run_uuid=? AND key IN ('mlflow.user', 'mlflow.source.name', "
          "'mlflow.source.type', 'mlflow.source.git.commit')")
      ->bind(model.id)
      .bind(experiment)
      .bind(run_id)
      .run();
  database
      .prepare(
          "INSERT OR IGNORE INTO logged_model_metrics (model_id, metric_name, "
          "metric_timestamp_ms, metric_step, metric_value, experiment_id, "
          "run_id) SELECT ?, key, timestamp, step, value, ?, run_uuid "
          "FROM metrics WHERE run_uuid=? AND step=? AND is_nan=0 "
          "AND key LIKE 'val\\_%' ESCAPE '\\'")
      ->bind(model.id)
      .bind(experiment)
      .bind(run_id)
      .bind(best_step(database, run_id))
      .run();
  auto link = database.prepare(
      "INSERT OR IGNORE INTO inputs (input_uuid, source_type, source_id, "
      "destination_type, destination_id) "
      "VALUES (?, 'RUN_OUTPUT', ?, 'MODEL_OUTPUT', ?)");
  link->bind(md5_hex(model.id + run_id)).bind(run_id).bind(model.id).run();
}

std::string logged_model_yaml(
    const LoggedModel& model,
    const std::string& run_id,
    const std::string& experiment,
    const std::string& artifact_uri) {
  return cat(
      "artifact_location: ",
      yaml_text(artifact_uri),
      "\ncreation_timestamp: ",
      model.time_ms,
      "\nexperiment_id: ",
      yaml_text(experiment),
      "\nlast_updated_timestamp: ",
      model.time_ms,
      "\nlifecycle_stage: active\nmodel_id: ",
      yaml_text(model.id),
      "\nmodel_type: null\nname: ",
      yaml_text(model.name),
      "\nsource_run_id: ",
      yaml_text(run_id),
      "\nstatus: ",
      kReady,
      "\nstatus_message: null\n");
}

std::string model_output_yaml(const LoggedModel& model) {
  return cat(
      "destination_id: ",
      yaml_text(model.id),
      "\ndestination_type: MODEL_OUTPUT\nsource_id: ",
      yaml_text(model.id),
      "\nsource_type: RUN_OUTPUT\nstep: ",
      model.step,
      "\ntags: {}\n");
}

} // namespace temper::track
