// An MLflow tracking server, over its REST interface. Sends what MLflow's own
// client would, in batches within the server's limits. Answers are believed
// only when they are MLflow's: a login page or half a reply is no delivery.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>

#include "temper/track/mlflow/http.h"
#include "temper/track/mlflow/mlflow_logged_model.h"
#include "temper/track/tracker.h"

namespace temper::track {

class MlflowHttp : public Tracker {
 public:
  MlflowHttp(const std::string& url, HttpSettings settings);

  std::string where() const override;
  bool begin(const RunFacts& run, const std::string& memory) override;
  std::optional<StoredRun> find(const RunFacts& run, const std::string& memory)
      override;
  void deliver(const Delivery& batch) override;
  std::string run_id() const override {
    return run_id_;
  }
  bool has_run(const std::string& id) override;
  std::string memory() const override;
  // About the lines of one request: what was delivered is remembered after
  // each.
  std::size_t lines_at_once() const override {
    return 100;
  }
  void give_up() override {
    client_.give_up();
  }

 private:
  using Json = nlohmann::json;

  Json get(const std::string& call, const std::vector<Pair>& query);
  Json post(const std::string& call, const Json& body);
  Json judge(const HttpReply& reply, const std::string& call);
  bool take_run(const Json& answer);
  bool known_run(const std::string& id);
  std::string find_experiment(const RunFacts& run);
  // The runs with the run's key; an array.
  Json search(const std::string& experiment, const std::string& key);
  void find_or_make_run(const RunFacts& run);
  void log_facts(const RunFacts& run);
  void log_batch(
      const std::vector<Point>& points,
      const std::vector<Pair>& params,
      const std::vector<Pair>& tags);
  void put_artifact(const Artifact& artifact, const std::string& uri);
  // Adds it as a model of its own where the server knows such.
  void put_model(const Artifact& mlmodel, const LoggedModel& model);
  void log_model_metrics(const std::string& id);
  std::string make_model(const LoggedModel& model, std::string& id);

  HttpClient client_;
  RunFacts facts_;
  std::string run_id_;
  std::string artifact_uri_;
  std::string experiment_;
  bool told_of_artifacts_ = false; // that they cannot be delivered
};

} // namespace temper::track
