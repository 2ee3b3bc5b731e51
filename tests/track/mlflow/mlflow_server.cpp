#include "tests/track/mlflow/mlflow_server.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "server_faults.h"
#include "server_models.h"

namespace temper::track {

class MlflowServer::Body {
 public:
  using Json = nlohmann::json;

  using Run = ServerRun;

  Body() {
    start(0);
  }
  ~Body() {
    stop();
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
  }
  // Connections are refused until start_again().
  void stop() {
    if (!server_) return;
    stopping_ = true;
    server_->stop();
    thread_.join();
    server_.reset();
    stopping_ = false;
  }
  void start_again() {
    start(port_);
  }

  // What the next requests meet, in this order; then all is well.
  void expect(std::vector<Fault> faults) {
    const std::lock_guard lock(mutex_);
    faults_ = std::move(faults);
  }
  std::size_t faults_left() {
    const std::lock_guard lock(mutex_);
    return faults_.size();
  }

  std::vector<std::string> complaints() {
    const std::lock_guard lock(mutex_);
    return complaints_;
  }
  std::map<std::string, Run> runs() {
    const std::lock_guard lock(mutex_);
    return runs_;
  }
  std::map<std::string, std::string> artifacts() {
    const std::lock_guard lock(mutex_);
    return artifacts_;
  }
  std::map<std::string, ServerModel> models() {
    const std::lock_guard lock(mutex_);
    return models_.all;
  }
  std::vector<std::string> authorisations() {
    const std::lock_guard lock(mutex_);
    return authorisations_;
  }
  int requests() const {
    return requests_;
  }
  void forget_runs() {
    const std::lock_guard lock(mutex_);
    runs_.clear();
  }
  void demand(const std::string& authorisation) {
    const std::lock_guard lock(mutex_);
    wanted_authorisation = authorisation;
  }

  // Not empty: what Authorization must say.
  std::string wanted_authorisation;
  std::string artifact_root = "mlflow-artifacts:";
  std::atomic<bool> has_models{true};
  std::string reply_extra; // told in error messages, as careless servers do

 private:
  using Request = httplib::Request;
  using Response = httplib::Response;
  using Call = std::function<Json(const Json&)>;

  struct Refusal {
    int status;
    std::string code;
    std::string message;
  };

  void start(int port) {
    server_ = std::make_unique<httplib::Server>();
    server_->set_keep_alive_max_count(1'000'000);
    server_->set_keep_alive_timeout(1);
    routes();
    port_ = port == 0 ? server_->bind_to_any_port("127.0.0.1") : port;
    if (port != 0)
      for (int i = 0; i < 100 && !server_->bind_to_port("127.0.0.1", port); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void complain(const std::string& what) {
    complaints_.push_back(what);
    throw Refusal{400, "INVALID_PARAMETER_VALUE", what};
  }

  Fault next_fault() {
    if (faults_.empty()) return Fault::none;
    const Fault fault = faults_.front();
    faults_.erase(faults_.begin());
    return fault;
  }

  void hang() {
    for (int i = 0; i < 600 && !stopping_; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  void answer(
      const Request& request,
      Response& response,
      const std::function<std::string()>& work) {
    ++requests_;
    Fault fault = Fault::none;
    {
      const std::lock_guard lock(mutex_);
      fault = next_fault();
      authorisations_.push_back(request.get_header_value("Authorization"));
      if (!wanted_authorisation.empty() &&
          authorisations_.back() != wanted_authorisation)
        fault = Fault::unauthorised;
      if (request.has_header("Origin"))
        complaints_.push_back("an Origin header, which MLflow answers 403");
    }
    if (fault == Fault::hang) hang();
    if (fail_first(fault, response)) return;
    const std::lock_guard lock(mutex_);
    try {
      response.set_content(work(), "application/json");
    } catch (const Refusal& refusal) {
      response.status = refusal.status;
      response.set_content(
          Json{
              {"error_code", refusal.code},
              {"message", refusal.message + reply_extra}}
              .dump(),
          "application/json");
    }
    fail_last(fault, response);
  }

  void post(const std::string& path, const Call& call) {
    server_->Post(
        "/api/2.0/mlflow/" + path,
        [this, path, call](const Request& request, Response& response) {
          answer(request, response, [&] {
            if (request.get_header_value("Content-Type") != "application/json")
              complain(path + " without Content-Type: application/json");
            if (request.body.size() > 1'000'000)
              complain(path + " with more than 1 MB");
            const Json body = Json::parse(request.body, nullptr, false);
            if (!body.is_object()) complain(path + " is no JSON object");
            return call(body).dump();
          });
        });
  }

  std::string text(const Json& body, const char* name) {
    if (!body.contains(name) || !body[name].is_string())
      complain(std::string(name) + " is no text in " + body.dump());
    return body[name];
  }
  std::int64_t whole(const Json& body, const char* name) {
    if (!body.contains(name) || !body[name].is_number_integer() ||
        body[name].get<std::int64_t>() < 0)
      complain(std::string(name) + " is no whole number in " + body.dump());
    return body[name];
  }
  void allow(const Json& body, const std::set<std::string>& names) {
    for (const auto& [name, value] : body.items())
      if (names.count(name) == 0)
        complain("nobody documents " + name + " of " + body.dump());
  }
  Run& run(const Json& body) {
    const auto found = runs_.find(text(body, "run_id"));
    if (found == runs_.end())
      throw Refusal{404, "RESOURCE_DOES_NOT_EXIST", "no such run"};
    return found->second;
  }
  void check_key(const std::string& key, std::size_t longest) {
    if (key.empty() || key.size() > longest || key.front() == '/' ||
        key.find("..") != std::string::npos)
      complain("the key " + key);
  }

  // NaN and the infinities come as texts.
  std::string value_of(const Json& metric) {
    const Json& value = metric.at("value");
    if (value.is_number()) return value.dump();
    if (value == "NaN" || value == "Infinity" || value == "-Infinity")
      return value;
    complain("the value " + value.dump());
    return "";
  }

  void add_tags(Run& into, const Json& tags) {
    for (const Json& tag : tags) {
      allow(tag, {"key", "value"});
      check_key(text(tag, "key"), 250);
      if (text(tag, "value").size() > 8000) complain("a long tag");
      into.tags[tag["key"]] = tag["value"];
    }
  }

  Json run_json(const std::string& id) {
    Json made = about_run(id, runs_.at(id), artifact_root);
    made["data"] = data_json(runs_.at(id));
    return made;
  }

  Json log_batch(const Json& body) {
    allow(body, {"run_id", "metrics", "params", "tags"});
    Run& into = run(body);
    const Json& metrics = body.at("metrics");
    const Json params = body.value("params", Json::array());
    const Json tags = body.value("tags", Json::array());
    if (metrics.size() > 1000 || params.size() > 100 || tags.size() > 100 ||
        metrics.size() + params.size() + tags.size() > 1000)
      complain("log-batch over its limits");
    std::set<std::string> keys;
    for (const Json& param : params) {
      check_key(text(param, "key"), 250);
      if (text(param, "value").size() > 6000) complain("a long param");
      if (!keys.insert(param["key"]).second) complain("a param twice");
      const auto [at, fresh] =
          into.params.emplace(param["key"], param["value"]);
      if (!fresh && at->second != text(param, "value"))
        complain("a changed param");
    }
    keys.clear();
    for (const Json& tag : tags)
      if (!keys.insert(text(tag, "key")).second) complain("a tag twice");
    add_tags(into, tags);
    for (const Json& metric : metrics) {
      allow(metric, {"key", "value", "timestamp", "step", "model_id"});
      check_key(text(metric, "key"), 250);
      into.metrics.emplace(
          metric["key"],
          whole(metric, "step"),
          whole(metric, "timestamp"),
          value_of(metric));
      if (metric.contains("model_id"))
        models_.all.at(text(metric, "model_id")).metrics[metric["key"]] =
            value_of(metric);
    }
    return Json::object();
  }

  Json create_run(const Json& body) {
    allow(body, {"experiment_id", "start_time", "run_name", "user_id", "tags"});
    if (experiments_.count(text(body, "experiment_id")) == 0)
      throw Refusal{404, "RESOURCE_DOES_NOT_EXIST", "no such experiment"};
    whole(body, "start_time");
    const std::string id =
        std::string(28, 'a') + std::to_string(1000 + runs_.size());
    Run made;
    made.experiment = body["experiment_id"];
    if (body.at("tags").size() > 100) complain("many tags");
    add_tags(made, body.at("tags"));
    const auto name = made.tags.find("mlflow.runName");
    if (name != made.tags.end() && name->second != text(body, "run_name"))
      complain("run_name and mlflow.runName differ");
    runs_[id] = made;
    return {{"run", run_json(id)}};
  }

  void model_routes() {
    for (const std::string path :
         {"logged-models/search", "logged-models", "runs/outputs"})
      post(path, [this, path](const Json& body) -> Json {
        if (!has_models)
          throw Refusal{404, "ENDPOINT_NOT_FOUND", "no such endpoint"};
        const std::string wrong = models_.wrong_with(path, body);
        if (!wrong.empty()) complain(path + ": " + wrong);
        return models_.answer(path, body, artifact_root);
      });
    server_->Post(
        R"(/api/2\.0/mlflow/logged-models/(m-.+)/params)",
        [this](const Request& request, Response& response) {
          answer(request, response, [&]() -> std::string {
            models_.add_params(Json::parse(request.body), request.matches[1]);
            return "{}";
          });
        });
    server_->Patch(
        R"(/api/2\.0/mlflow/logged-models/(.+))",
        [this](const Request& request, Response& response) {
          answer(request, response, [&]() -> std::string {
            models_.set_status(Json::parse(request.body), request.matches[1]);
            return "{}";
          });
        });
  }

  void routes() {
    server_->Get(
        "/api/2.0/mlflow/experiments/get-by-name",
        [this](const Request& request, Response& response) {
          answer(request, response, [&]() -> std::string {
            const auto name = request.get_param_value("experiment_name");
            for (const auto& [id, its] : experiments_)
              if (its == name)
                return Json{{"experiment",
                             {{"experiment_id", id},
                              {"name", its},
                              {"lifecycle_stage", "active"}}}}
                    .dump();
            throw Refusal{404, "RESOURCE_DOES_NOT_EXIST", "no experiment"};
          });
        });
    server_->Get(
        "/api/2.0/mlflow/runs/get",
        [this](const Request& request, Response& response) {
          answer(request, response, [&]() -> std::string {
            const auto id = request.get_param_value("run_id");
            if (runs_.count(id) == 0)
              throw Refusal{404, "RESOURCE_DOES_NOT_EXIST", "no run"};
            return Json{{"run", run_json(id)}}.dump();
          });
        });
    post("experiments/create", [this](const Json& body) -> Json {
      allow(body, {"name", "artifact_location", "tags"});
      for (const auto& [id, name] : experiments_)
        if (name == text(body, "name"))
          throw Refusal{400, "RESOURCE_ALREADY_EXISTS", "there is one"};
      const std::string id = std::to_string(experiments_.size());
      experiments_[id] = body["name"];
      return {{"experiment_id", id}};
    });
    post("runs/search", [this](const Json& body) -> Json {
      allow(body, search_fields());
      const std::string key = key_in_filter(text(body, "filter"));
      if (key.empty()) complain("the filter " + text(body, "filter"));
      Json found = Json::object();
      for (const auto& [id, run] : runs_)
        if (run.tags.count("temper.key") > 0 &&
            run.tags.at("temper.key") == key)
          found["runs"].push_back(run_json(id));
      return found;
    });
    post("runs/create", [this](const Json& body) { return create_run(body); });
    post(
        "runs/log-batch", [this](const Json& body) { return log_batch(body); });
    post("runs/update", [this](const Json& body) -> Json {
      allow(body, {"run_id", "status", "end_time", "run_name"});
      Run& changed = run(body);
      if (!is_status(text(body, "status"))) complain("the status");
      changed.status = body["status"];
      if (body.contains("end_time")) changed.end_time = whole(body, "end_time");
      return {{"run_info", run_json(body["run_id"])["info"]}};
    });
    post("runs/log-inputs", [this](const Json& body) -> Json {
      allow(body, {"run_id", "datasets"});
      for (const Json& input : body.at("datasets")) {
        allow(input, {"tags", "dataset"});
        const std::string wrong = wrong_with_dataset(input.at("dataset"));
        if (!wrong.empty()) complain(wrong);
        run(body).datasets.push_back(input.dump());
      }
      return Json::object();
    });
    model_routes();
    server_->Put(
        R"(/api/2\.0/mlflow-artifacts/artifacts/(.+))",
        [this](const Request& request, Response& response) {
          answer(request, response, [&]() -> std::string {
            if (!request.has_header("Content-Type"))
              complain("an artifact without a type");
            artifacts_[request.matches[1]] = request.body;
            return "";
          });
        });
  }

  int port_ = 0;
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> requests_{0};
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::vector<std::string> complaints_;
  std::vector<std::string> authorisations_;
  std::map<std::string, std::string> experiments_{{"0", "Default"}};
  std::map<std::string, Run> runs_;
  ServerModels models_;
  std::map<std::string, std::string> artifacts_;
};

MlflowServer::MlflowServer() : body_(std::make_unique<Body>()) {}
MlflowServer::~MlflowServer() = default;
std::string MlflowServer::url() const {
  return body_->url();
}
void MlflowServer::stop() {
  body_->stop();
}
void MlflowServer::start_again() {
  body_->start_again();
}
void MlflowServer::expect(std::vector<Fault> faults) {
  body_->expect(std::move(faults));
}
std::size_t MlflowServer::faults_left() {
  return body_->faults_left();
}
void MlflowServer::demand(const std::string& authorisation) {
  body_->demand(authorisation);
}
void MlflowServer::add_to_messages(const std::string& text) {
  body_->reply_extra = text;
}
void MlflowServer::keep_artifacts_in(const std::string& uri) {
  body_->artifact_root = uri;
}
void MlflowServer::forget_runs() {
  body_->forget_runs();
}
std::vector<std::string> MlflowServer::complaints() {
  return body_->complaints();
}
std::map<std::string, ServerRun> MlflowServer::runs() {
  return body_->runs();
}
std::map<std::string, std::string> MlflowServer::artifacts() {
  return body_->artifacts();
}
std::map<std::string, ServerModel> MlflowServer::models() {
  return body_->models();
}
void MlflowServer::forget_models() {
  body_->has_models = false;
}
std::vector<std::string> MlflowServer::authorisations() {
  return body_->authorisations();
}
int MlflowServer::requests() {
  return body_->requests();
}

} // namespace temper::track
