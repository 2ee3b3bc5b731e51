// An MLflow tracking server in the test's own process: checks every request
// against what MLflow documents, keeps what it is told, and can be made to
// misbehave in every way that servers and networks do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace temper::track {

enum class Fault {
  none,
  hang, // silence
  server_error, // 500 with HTML
  unavailable, // 503
  html, // 200 with a login page
  half, // works, then cuts the answer off
  wrong_json, // works, then answers [1, 2
  lost, // works, then 504
  unauthorised, // 401
};

struct ServerRun {
  std::string experiment;
  std::string status = "RUNNING";
  std::int64_t end_time = 0;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> tags;
  // Key, step, time, value: as the SQL store's primary key has them.
  std::set<std::tuple<std::string, std::int64_t, std::int64_t, std::string>>
      metrics;
  std::vector<std::string> datasets; // JSON
};

struct ServerModel {
  std::string name;
  std::string run;
  std::string status = "LOGGED_MODEL_PENDING";
  bool is_output = false; // of its run
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> tags;
  std::map<std::string, std::string> metrics;
};

class MlflowServer {
 public:
  MlflowServer();
  ~MlflowServer();

  std::string url() const;
  // Connections are refused until start_again().
  void stop();
  void start_again();

  // What the next requests meet, in this order; then all is well.
  void expect(std::vector<Fault> faults);
  std::size_t faults_left();
  // Not empty: what Authorization must say.
  void demand(const std::string& authorisation);
  // Told in error messages, as careless servers do.
  void add_to_messages(const std::string& text);
  void keep_artifacts_in(const std::string& uri);
  void forget_runs();

  std::vector<std::string> complaints();
  std::map<std::string, ServerRun> runs();
  std::map<std::string, std::string> artifacts();
  std::map<std::string, ServerModel> models();
  void forget_models(); // from now on it is an MLflow 2
  std::vector<std::string> authorisations();
  int requests();

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

} // namespace temper::track
