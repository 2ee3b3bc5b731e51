// MLflow's local store, a SQLite database: what `mlflow ui` opens by default
// since 3.7. A new one is made at revision 0584bdc529eb, which MLflow 2.18 to
// 2.22 open as it is, and 3.4 and newer migrate when they first open it, as
// they find tables missing. It has no tables for models: those of runs that are
// there by then are added by whoever opens it next (mlflow_logged_model.h).
// Where MLflow 3 is at hand it is made at 400f98739977, which has them. To one
// that MLflow made, old or new, rows are only added. The artifacts of a run
// stay where they are, in its directory.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "temper/journal/run_directory.h"
#include "temper/track/mlflow/sqlite.h"
#include "temper/track/tracker.h"

namespace temper::track {

class MlflowSqlite : public Tracker {
 public:
  // `with_models`: a new database is for MLflow 3 alone.
  explicit MlflowSqlite(
      const std::filesystem::path& file,
      bool with_models = false);
  ~MlflowSqlite() override;

  std::string where() const override;
  bool begin(const RunFacts& run, const std::string& memory) override;
  std::optional<StoredRun> find(const RunFacts& run, const std::string& memory)
      override;
  void deliver(const Delivery& batch) override;
  std::string run_id() const override {
    return run_id_;
  }
  bool has_run(const std::string& id) override;
  std::string memory() const override {
    return run_id_;
  }
  void give_up() override;

 private:
  struct Statements;

  void open();
  std::int64_t find_experiment(const RunFacts& run);
  bool find_run(const RunFacts& run, const std::string& known);
  void follow_directory(const RunFacts& run);
  void make_run(const RunFacts& run, std::int64_t experiment);
  void add_params(const std::vector<Pair>& params);
  void add_dataset(const Dataset& dataset, std::int64_t experiment);
  void add_points(const std::vector<Point>& points);
  void set_tag(const Pair& tag);

  std::filesystem::path file_;
  bool with_models_;
  std::mutex opening_; // give_up() comes from another thread
  bool gave_up_ = false;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statements> statements_;
  std::string run_id_;
  journal::RunDirectory run_;
  std::filesystem::path artifacts_;
};

// Makes the tables where there are none, and refuses a database that lacks a
// column we write or demands one we do not know. Safe for many at once.
void prepare_mlflow_database(
    Database& database,
    const std::string& name,
    bool with_models = false);

} // namespace temper::track
