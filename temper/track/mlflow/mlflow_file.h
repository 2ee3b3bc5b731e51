// MLflow's file store (mlruns/): text files that any version reads and rsync
// copies. Since 3.13 MLflow opens one only with MLFLOW_ALLOW_FILE_STORE=true.
//
// Its readers are strict: an empty file, a blank or half a line, or a stray
// file below metrics/ makes the whole experiment unreadable. So a metric's file
// is made by its first line, lines go in whole with one write, and everything
// else is written beside the store's tree and renamed into it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "temper/track/mlflow/mlflow_logged_model.h"
#include "temper/track/tracker.h"

namespace temper::track {

class MlflowFile : public Tracker {
 public:
  explicit MlflowFile(const std::filesystem::path& folder);

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
    return experiment_.empty() ? "" : experiment_ + "/" + run_id_;
  }

 private:
  std::filesystem::path find_run(
      const RunFacts& run,
      const std::string& memory);
  // The folder of that run, in whichever experiment; empty: there is none.
  std::filesystem::path folder_of(const std::string& run_id) const;
  std::string find_experiment(const RunFacts& run);
  void make_run(const RunFacts& run);
  void add_facts(const RunFacts& run);
  void add_dataset(const Dataset& dataset);
  void add_model(const LoggedModel& model);
  void add_points(const std::vector<Point>& points);
  void set_status(const StatusChange& change);
  void set_tag(const Pair& tag);
  void write(const std::filesystem::path& file, const std::string& text);
  std::filesystem::path run_folder() const;

  std::filesystem::path folder_;
  journal::RunDirectory run_;
  std::string experiment_;
  std::string run_id_;
  // The last lines of each metric's file as it was found: after a crash the
  // same may come again.
  std::map<std::string, std::set<std::string>> tails_;
};

} // namespace temper::track
