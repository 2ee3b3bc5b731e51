#include "temper/track/mlflow/mlflow_logged_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/digest/md5.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"
#include "temper/track/copy_artifact.h"
#include "temper/track/follow/translate.h"
#include "temper/track/mlflow/mlflow_lines.h"
#include "temper/track/mlflow/yaml.h"

namespace temper::track {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;

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

const std::vector<std::string>& model_tags() {
  static const std::vector<std::string> keys{
      "mlflow.user",
      "mlflow.source.name",
      "mlflow.source.type",
      "mlflow.source.git.commit"};
  return keys;
}

} // namespace

std::optional<LoggedModel> logged_model_of(const Artifact& artifact) {
  const std::filesystem::path name = artifact.name;
  if (name.filename() != "MLmodel") return std::nullopt;
  const auto yaml = read_small_file(artifact.file);
  if (!yaml) return std::nullopt;
  LoggedModel model;
  model.id = yaml_value(*yaml, "model_id");
  if (!model.id.starts_with("m-")) return std::nullopt;
  model.folder = name.parent_path().generic_string();
  model.name = name.parent_path().filename().string();
  model.time_ms = artifact.time_ms;
  model.step = artifact.step;
  return model;
}

bool is_model_tag(const std::string& key) {
  const auto& keys = model_tags();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::vector<Point> model_points(const journal::RunDirectory& run) {
  std::vector<Point> best; // of the last epoch that was better than all before
  std::vector<Point> test;
  Marks marks;
  journal::Follower journal(run.journal());
  for (auto events = journal.read(); !events.empty(); events = journal.read())
    for (const journal::Event& event : events) {
      const bool is_best = event.kind == kinds::kEpoch &&
          event.flag(fields::kBest).value_or(false);
      if (!is_best && event.kind != kinds::kTest) continue;
      Delivery batch;
      translate(event, run, marks, batch);
      std::vector<Point>& points = is_best ? best : test;
      points.clear();
      for (const Point& point : batch.points)
        if (!std::isnan(point.value) &&
            (point.key.starts_with(fields::kValPrefix) ||
             point.key.starts_with(fields::kTestPrefix)))
          points.push_back(point);
    }
  best.insert(best.end(), test.begin(), test.end());
  return best;
}

void add_logged_model(
    Database& database,
    const LoggedModel& model,
    const std::string& run_id,
    const std::filesystem::path& artifacts,
    const journal::RunDirectory& run) {
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
          cat("INSERT OR IGNORE INTO logged_model_tags (model_id, "
              "experiment_id, tag_key, tag_value) "
              "SELECT ?, ?, key, value FROM tags WHERE run_uuid=? "
              "AND key IN ('",
              join(model_tags(), "', '"),
              "')"))
      ->bind(model.id)
      .bind(experiment)
      .bind(run_id)
      .run();
  auto metric = database.prepare(
      "INSERT OR IGNORE INTO logged_model_metrics (model_id, metric_name, "
      "metric_timestamp_ms, metric_step, metric_value, experiment_id, run_id) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const Point& point : model_points(run))
    metric->bind(model.id)
        .bind(point.key)
        .bind(point.time_ms)
        .bind(point.step)
        .bind(point.value)
        .bind(experiment)
        .bind(run_id)
        .run();
  auto link = database.prepare(
      "INSERT OR IGNORE INTO inputs (input_uuid, source_type, source_id, "
      "destination_type, destination_id) "
      "VALUES (?, 'RUN_OUTPUT', ?, 'MODEL_OUTPUT', ?)");
  link->bind(md5_hex(model.id + run_id)).bind(run_id).bind(model.id).run();
}

void add_missing_models(Database& database) {
  if (!has_table(database)) return;
  struct Known {
    std::string run;
    std::string artifacts;
    std::int64_t time_ms;
    std::string history;
    std::string directory;
  };
  std::vector<Known> known;
  auto find = database.prepare(
      "SELECT r.run_uuid, r.artifact_uri, coalesce(r.end_time, r.start_time), "
      "h.value, d.value FROM tags h JOIN runs r USING (run_uuid) "
      "JOIN tags d ON d.run_uuid=r.run_uuid AND d.key='temper.directory' "
      "WHERE h.key='mlflow.log-model.history' AND r.lifecycle_stage='active' "
      "AND NOT EXISTS (SELECT 1 FROM logged_models m "
      "WHERE m.source_run_id=r.run_uuid)");
  while (find->step())
    known.push_back(
        {find->text(0),
         find->text(1),
         find->integer(2),
         find->text(3),
         find->text(4)});
  for (const Known& each : known) {
    const auto history = nlohmann::json::parse(each.history, nullptr, false);
    if (!history.is_array() || history.empty() || !history.back().is_object())
      continue;
    const auto folder = history.back().find("artifact_path");
    if (folder == history.back().end() || !folder->is_string()) continue;
    const std::string name = cat(folder->get<std::string>(), "/MLmodel");
    const std::filesystem::path artifacts = folder_in(each.artifacts);
    if (const auto model =
            logged_model_of({artifacts / name, name, 0, each.time_ms}))
      add_logged_model(database, *model, each.run, artifacts, {each.directory});
  }
}

void move_logged_models(
    Database& database,
    const std::string& run_id,
    const std::filesystem::path& from,
    const std::filesystem::path& to) {
  if (!has_table(database)) return;
  database
      .prepare(
          "UPDATE logged_models SET artifact_location = ?1 || "
          "substr(artifact_location, length(?2) + 1) WHERE source_run_id=?3 "
          "AND substr(artifact_location, 1, length(?2)) = ?2")
      ->bind(to.string())
      .bind(from.string())
      .bind(run_id)
      .run();
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
