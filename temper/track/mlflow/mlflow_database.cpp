// Making an MLflow database, and judging one that is there.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/track/mlflow/mlflow_schema.h"
#include "temper/track/mlflow/mlflow_sqlite.h"

namespace temper::track {
namespace {

// Every column we write or ask for, by table.
const std::map<std::string, std::set<std::string>>& needed() {
  static const std::map<std::string, std::set<std::string>> table{
      {"experiments",
       {"experiment_id",
        "name",
        "artifact_location",
        "lifecycle_stage",
        "creation_time",
        "last_update_time"}},
      {"runs",
       {"run_uuid",
        "name",
        "source_type",
        "source_name",
        "entry_point_name",
        "user_id",
        "status",
        "start_time",
        "end_time",
        "source_version",
        "lifecycle_stage",
        "artifact_uri",
        "experiment_id"}},
      {"metrics", {"key", "value", "timestamp", "run_uuid", "step", "is_nan"}},
      {"latest_metrics",
       {"key", "value", "timestamp", "step", "is_nan", "run_uuid"}},
      {"params", {"key", "value", "run_uuid"}},
      {"tags", {"key", "value", "run_uuid"}},
      {"datasets",
       {"dataset_uuid",
        "experiment_id",
        "name",
        "digest",
        "dataset_source_type",
        "dataset_source",
        "dataset_schema",
        "dataset_profile"}},
      {"inputs",
       {"input_uuid",
        "source_type",
        "source_id",
        "destination_type",
        "destination_id"}},
      {"input_tags", {"input_uuid", "name", "value"}}};
  return table;
}

std::int64_t tables_in(Database& database) {
  auto count =
      database.prepare("SELECT count(*) FROM sqlite_master WHERE type='table'");
  count->step();
  return count->integer(0);
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(
      cat("[track] ", name, " cannot take a run: ", why, "."),
      "Its MLflow is too old or too new for this temper: name another "
      "database with track.mlflow.");
}

void check_columns(
    Database& database,
    const std::string& name,
    const std::string& table,
    const std::set<std::string>& wanted) {
  std::set<std::string> missing = wanted;
  auto rows = database.prepare(cat("PRAGMA table_info(", table, ")"));
  while (rows->step()) {
    const std::string column = rows->text(1);
    const bool demanded =
        rows->integer(3) != 0 && rows->text(4).empty() && rows->integer(5) == 0;
    if (missing.erase(column) == 0 && demanded)
      refuse(
          name,
          cat("its table ",
              table,
              " demands a column \"",
              column,
              "\" that temper does not know"));
  }
  if (missing.size() == wanted.size())
    refuse(name, cat("it has no table ", table));
  if (!missing.empty())
    refuse(
        name,
        cat("its table ", table, " has no column \"", *missing.begin(), "\""));
}

// MLflow makes it in every store, and its pages expect it.
void add_default_experiment(Database& database, const std::string& name) {
  auto insert = database.prepare(
      "INSERT INTO experiments (experiment_id, name, artifact_location, "
      "lifecycle_stage, creation_time, last_update_time) "
      "VALUES (0, 'Default', ?, 'active', ?, ?)");
  const auto folder = std::filesystem::path(name).parent_path() / "mlruns/0";
  insert->bind(folder.string()).bind(now_ms()).bind(now_ms()).run();
}

} // namespace

void prepare_mlflow_database(
    Database& database,
    const std::string& name,
    bool with_models) {
  if (tables_in(database) == 0) {
    Transaction making(database);
    // Somebody else may have been faster.
    if (tables_in(database) == 0) {
      database.execute(mlflow_schema());
      if (with_models) database.execute(mlflow_logged_model_tables());
      add_default_experiment(database, name);
    }
    making.commit();
  }
  for (const auto& [table, columns] : needed())
    check_columns(database, name, table, columns);
}

} // namespace temper::track
