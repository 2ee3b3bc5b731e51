#include "temper/track/mlflow/mlflow_sqlite.h"

#include <cmath>
#include <map>
#include <tuple>

#include "temper/base/text.h"
#include "temper/track/copy_artifact.h"
#include "temper/track/follow/delivery_state.h"
#include "temper/track/follow/identity.h"
#include "temper/track/follow/translate.h"
#include "temper/track/mlflow/mlflow_logged_model.h"
#include "temper/track/mlflow/mlflow_model.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;

// How MLflow writes what SQL has no word for.
struct Stored {
  double value = 0;
  std::int64_t is_nan = 0;
};

Stored stored(double value) {
  constexpr double kLargest = 1.7976931348623157e308;
  if (std::isnan(value)) return {0, 1};
  if (std::isinf(value)) return {value > 0 ? kLargest : -kLargest, 0};
  return {value, 0};
}

} // namespace

struct MlflowSqlite::Statements {
  explicit Statements(Database& database)
      : metric(
            database.prepare("INSERT OR IGNORE INTO metrics "
                             "(key, value, timestamp, run_uuid, step, is_nan) "
                             "VALUES (?, ?, ?, ?, ?, ?)")),
        latest(database.prepare(
            "INSERT INTO latest_metrics "
            "(key, value, timestamp, step, is_nan, run_uuid) "
            "VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (key, run_uuid) DO UPDATE SET value=excluded.value, "
            "timestamp=excluded.timestamp, step=excluded.step, "
            "is_nan=excluded.is_nan "
            "WHERE (excluded.step, excluded.timestamp, excluded.value) > "
            "(step, timestamp, value)")),
        tag(database.prepare(
            "INSERT INTO tags (key, value, run_uuid) VALUES (?, ?, ?) "
            "ON CONFLICT (key, run_uuid) DO UPDATE SET value=excluded.value")),
        running(
            database.prepare("UPDATE runs SET status='RUNNING', end_time=NULL "
                             "WHERE run_uuid=?")),
        end(database.prepare(
            "UPDATE runs SET status=?, end_time=? WHERE run_uuid=?")) {}

  std::unique_ptr<Statement> metric;
  std::unique_ptr<Statement> latest;
  std::unique_ptr<Statement> tag;
  std::unique_ptr<Statement> running;
  std::unique_ptr<Statement> end;
};

MlflowSqlite::MlflowSqlite(const fs::path& file, bool with_models)
    : file_(fs::absolute(file).lexically_normal()), with_models_(with_models) {}

MlflowSqlite::~MlflowSqlite() = default;

std::string MlflowSqlite::where() const {
  return cat("sqlite:///", file_.string());
}

void MlflowSqlite::give_up() {
  const std::lock_guard lock(opening_);
  gave_up_ = true;
  if (database_) database_->give_up();
}

void MlflowSqlite::open() {
  statements_.reset();
  {
    const std::lock_guard lock(opening_);
    database_.reset();
  }
  std::error_code failed;
  fs::create_directories(file_.parent_path(), failed);
  auto opened = std::make_unique<Database>(file_, true);
  {
    const std::lock_guard lock(opening_);
    database_ = std::move(opened);
    if (gave_up_) database_->give_up();
  }
  prepare_mlflow_database(*database_, file_.string(), with_models_);
  statements_ = std::make_unique<Statements>(*database_);
}

bool MlflowSqlite::begin(const RunFacts& run, const std::string& memory) {
  open();
  run_ = {run.directory};
  artifacts_ = run_.artifacts();
  Transaction writing(*database_);
  const bool found = find_run(run, memory);
  if (!found) make_run(run, find_experiment(run));
  add_missing_models(*database_);
  writing.commit();
  return !found;
}

std::optional<StoredRun> MlflowSqlite::find(
    const RunFacts& run,
    const std::string& memory) {
  std::error_code failed;
  if (!fs::exists(file_, failed)) return std::nullopt;
  open();
  StoredRun found;
  found.id = memory.empty() ? run.key : memory;
  found.memory = found.id;
  auto stage =
      database_->prepare("SELECT lifecycle_stage FROM runs WHERE run_uuid=?");
  if (!stage->bind(found.id).step() || stage->text(0) == "deleted")
    return std::nullopt;
  auto place =
      database_->prepare("SELECT value FROM tags WHERE run_uuid=? AND key=?");
  if (place->bind(found.id).bind(std::string(kPlaceTag)).step())
    found.place = place->text(0);
  auto metrics = database_->prepare(
      "SELECT key, step, timestamp FROM latest_metrics WHERE run_uuid=?");
  metrics->bind(found.id);
  while (metrics->step())
    found.metrics[metrics->text(0)] = {
        metrics->integer(1), metrics->integer(2)};
  return found;
}

bool MlflowSqlite::has_run(const std::string& id) {
  std::error_code failed;
  if (!fs::exists(file_, failed)) return false;
  Database database(file_, false);
  auto find =
      database.prepare("SELECT lifecycle_stage FROM runs WHERE run_uuid=?");
  return find->bind(id).step() && find->text(0) != "deleted";
}

bool MlflowSqlite::find_run(const RunFacts& run, const std::string& known) {
  run_id_ = !known.empty() ? known : !run.adopt.empty() ? run.adopt : run.key;
  auto find = database_->prepare(
      "SELECT lifecycle_stage, artifact_uri FROM runs WHERE run_uuid=?");
  find->bind(run_id_);
  if (!find->step()) {
    if (known.empty() && !run.adopt.empty())
      throw Error(
          cat("[track] MLFLOW_RUN_ID is ",
              run.adopt,
              ", and ",
              file_.string(),
              " has no such run."),
          "Unset it to begin a new run.");
    run_id_ = run.key;
    return false;
  }
  if (find->text(0) == "deleted")
    throw Error(
        cat("[track] the run was deleted in ", file_.string(), "."),
        "Restore it there: mlflow runs restore --run-id " + run_id_ + ".");
  // One that MLflow made keeps its files elsewhere.
  if (const fs::path folder = folder_in(find->text(1)); !folder.empty())
    artifacts_ = folder;
  while (find->step()) {
  }
  follow_directory(run);
  if (run_id_ == run.adopt && known.empty()) {
    add_params(run.params);
    for (const Pair& tag : run.tags)
      if (tag.key != "mlflow.runName") set_tag(tag);
  }
  return true;
}

// Artifacts that lie in the run's directory move with it.
void MlflowSqlite::follow_directory(const RunFacts& run) {
  auto tag = database_->prepare(
      "SELECT value FROM tags WHERE run_uuid=? AND key='temper.directory'");
  if (!tag->bind(run_id_).step()) return;
  const fs::path before = tag->text(0);
  while (tag->step()) {
  }
  if (run.directory.empty() || before == run.directory ||
      artifacts_ != before / "artifacts")
    return;
  artifacts_ = run.directory / "artifacts";
  auto update =
      database_->prepare("UPDATE runs SET artifact_uri=? WHERE run_uuid=?");
  update->bind(artifacts_.string()).bind(run_id_).run();
  move_logged_models(*database_, run_id_, before / "artifacts", artifacts_);
  set_tag({"temper.directory", run.directory.string()});
}

std::int64_t MlflowSqlite::find_experiment(const RunFacts& run) {
  const bool by_id = !run.experiment_id.empty();
  auto find = database_->prepare(
      cat("SELECT experiment_id, lifecycle_stage FROM experiments WHERE ",
          by_id ? "experiment_id" : "name",
          "=?"));
  const std::string& wanted = by_id ? run.experiment_id : run.experiment;
  find->bind(wanted);
  if (find->step()) {
    const std::int64_t id = find->integer(0);
    if (find->text(1) == "deleted")
      throw Error(
          cat("[track] the experiment ",
              wanted,
              " is deleted in ",
              file_.string(),
              "."),
          "Restore it there, or choose another with track.experiment.");
    return id;
  }
  if (by_id)
    throw Error(
        cat("[track] MLFLOW_EXPERIMENT_ID is ",
            wanted,
            ", and ",
            file_.string(),
            " has no such experiment."),
        "Name one with track.experiment: it is made when it is missing.");
  auto insert = database_->prepare(
      "INSERT INTO experiments (name, artifact_location, lifecycle_stage, "
      "creation_time, last_update_time) VALUES (?, '', 'active', ?, ?)");
  insert->bind(shortened(wanted, 256)).bind(now_ms()).bind(now_ms()).run();
  const std::int64_t id = database_->last_row_id();
  auto place = database_->prepare(
      "UPDATE experiments SET artifact_location=? WHERE experiment_id=?");
  place->bind((file_.parent_path() / "mlruns" / cat(id)).string())
      .bind(id)
      .run();
  return id;
}

void MlflowSqlite::make_run(const RunFacts& run, std::int64_t experiment) {
  std::string source;
  std::string commit;
  for (const Pair& tag : run.tags) {
    if (tag.key == "mlflow.source.name") source = tag.value;
    if (tag.key == "mlflow.source.git.commit") commit = tag.value;
  }
  auto insert = database_->prepare(
      "INSERT INTO runs (run_uuid, name, source_type, source_name, "
      "entry_point_name, user_id, status, start_time, end_time, "
      "source_version, lifecycle_stage, artifact_uri, experiment_id) "
      "VALUES (?, ?, 'LOCAL', ?, '', ?, 'RUNNING', ?, NULL, ?, 'active', ?, "
      "?)");
  insert->bind(run_id_)
      .bind(shortened(run.name, 250))
      .bind(shortened(source, 500))
      .bind(shortened(run.user, 256))
      .bind(run.start_ms)
      .bind(shortened(commit, 50))
      .bind(artifacts_.string())
      .bind(experiment)
      .run();
  add_params(run.params);
  for (const Pair& tag : run.tags)
    set_tag(tag);
  for (const Dataset& dataset : run.datasets)
    add_dataset(dataset, experiment);
}

void MlflowSqlite::add_params(const std::vector<Pair>& params) {
  auto insert = database_->prepare(
      "INSERT OR IGNORE INTO params (key, value, run_uuid) VALUES (?, ?, ?)");
  for (const Pair& each : params)
    insert->bind(each.key).bind(each.value).bind(run_id_).run();
}

void MlflowSqlite::add_dataset(
    const Dataset& dataset,
    std::int64_t experiment) {
  auto insert = database_->prepare(
      "INSERT OR IGNORE INTO datasets (dataset_uuid, experiment_id, name, "
      "digest, dataset_source_type, dataset_source, dataset_schema, "
      "dataset_profile) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  insert->bind(random_key())
      .bind(experiment)
      .bind(dataset.name)
      .bind(dataset.digest)
      .bind(dataset.source_type)
      .bind(dataset.source)
      .bind(dataset.schema)
      .bind(dataset.profile)
      .run();
  auto find = database_->prepare(
      "SELECT dataset_uuid FROM datasets "
      "WHERE experiment_id=? AND name=? AND digest=?");
  find->bind(experiment).bind(dataset.name).bind(dataset.digest);
  if (!find->step()) throw Bug("a dataset that was just written is not there");
  const std::string input = random_key();
  auto link = database_->prepare(
      "INSERT OR IGNORE INTO inputs (input_uuid, source_type, source_id, "
      "destination_type, destination_id) VALUES (?, 'DATASET', ?, 'RUN', ?)");
  link->bind(input).bind(find->text(0)).bind(run_id_).run();
  auto tag = database_->prepare(
      "INSERT OR IGNORE INTO input_tags (input_uuid, name, value) "
      "VALUES (?, 'mlflow.data.context', ?)");
  tag->bind(input).bind(dataset.context).run();
}

void MlflowSqlite::set_tag(const Pair& tag) {
  statements_->tag->bind(tag.key).bind(tag.value).bind(run_id_).run();
}

void MlflowSqlite::add_points(const std::vector<Point>& points) {
  const auto rank = [](const Point& point) {
    return std::tuple(point.step, point.time_ms, stored(point.value).value);
  };
  std::map<std::string, const Point*> latest;
  for (const Point& point : points) {
    const Stored value = stored(point.value);
    statements_->metric->bind(point.key)
        .bind(value.value)
        .bind(point.time_ms)
        .bind(run_id_)
        .bind(point.step)
        .bind(value.is_nan)
        .run();
    const Point*& best = latest[point.key];
    if (best == nullptr || rank(point) > rank(*best)) best = &point;
  }
  for (const auto& [key, point] : latest) {
    const Stored value = stored(point->value);
    statements_->latest->bind(key)
        .bind(value.value)
        .bind(point->time_ms)
        .bind(point->step)
        .bind(value.is_nan)
        .bind(run_id_)
        .run();
  }
}

void MlflowSqlite::deliver(const Delivery& batch) {
  for (const Artifact& artifact : batch.artifacts)
    copy_artifact(artifact, artifacts_);
  Transaction writing(*database_);
  add_points(batch.points);
  for (const Pair& tag : batch.tags)
    set_tag(tag);
  for (const Artifact& artifact : batch.artifacts)
    if (const auto tag = model_history_tag(artifact, run_id_)) set_tag(*tag);
  for (const Artifact& artifact : batch.artifacts)
    if (const auto model = logged_model_of(artifact))
      add_logged_model(*database_, *model, run_id_, artifacts_, run_);
  if (batch.status && batch.status->status == Status::running)
    statements_->running->bind(run_id_).run();
  else if (batch.status)
    statements_->end->bind(std::string(to_string(batch.status->status)))
        .bind(batch.status->time_ms)
        .bind(run_id_)
        .run();
  writing.commit();
}

} // namespace temper::track
