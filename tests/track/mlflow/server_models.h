// Parts of the tests' MLflow server: its logged models, as MLflow 3 answers for
// them, and what it checks of requests.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/track/mlflow/mlflow_server.h"

namespace temper::track {

// Empty: nothing.
inline std::string wrong_with_dataset(const nlohmann::json& dataset) {
  for (const char* name :
       {"name", "digest", "source_type", "source", "schema", "profile"})
    if (!dataset.contains(name) || !dataset[name].is_string())
      return std::string(name) + " is no text in " + dataset.dump();
  if (dataset["digest"].get<std::string>().size() > 36) return "digest";
  const std::string schema = dataset["schema"];
  return nlohmann::json::parse(schema, nullptr, false).is_discarded()
      ? "a schema that is no JSON"
      : "";
}

inline std::string key_in_filter(const std::string& filter) {
  const std::string before = "tags.`temper.key` = '";
  if (filter.rfind(before, 0) != 0 || filter.back() != '\'') return "";
  return filter.substr(before.size(), filter.size() - before.size() - 1);
}

inline bool is_status(const std::string& status) {
  static const std::set<std::string> known{
      "RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"};
  return known.count(status) > 0;
}

inline const std::set<std::string>& search_fields() {
  static const std::set<std::string> names{
      "experiment_ids", "filter", "max_results", "order_by", "page_token"};
  return names;
}

inline nlohmann::json about_run(
    const std::string& id,
    const ServerRun& run,
    const std::string& root) {
  return {
      {"info",
       {{"run_id", id},
        {"run_uuid", id},
        {"experiment_id", run.experiment},
        {"status", run.status},
        {"lifecycle_stage", "active"},
        {"artifact_uri",
         root + "/" + run.experiment + "/" + id + "/artifacts"}}},
      {"data", nlohmann::json::object()},
      {"inputs", nlohmann::json::object()}};
}

// Of each metric the last, as MLflow gives it.
inline nlohmann::json data_json(const ServerRun& run) {
  nlohmann::json data{
      {"tags", nlohmann::json::array()}, {"metrics", nlohmann::json::array()}};
  for (const auto& [key, value] : run.tags)
    data["tags"].push_back({{"key", key}, {"value", value}});
  std::map<std::string, nlohmann::json>
      last; // they are sorted by key, step and time
  for (const auto& [key, step, time_ms, value] : run.metrics)
    last[key] = {
        {"key", key},
        {"value", 0.5},
        {"timestamp", time_ms},
        {"step", std::to_string(step)}};
  for (const auto& [key, metric] : last)
    data["metrics"].push_back(metric);
  return data;
}

class ServerModels {
 public:
  using Json = nlohmann::json;

  std::map<std::string, ServerModel> all;

  // Empty: nothing.
  static std::string wrong_with(const std::string& path, const Json& body) {
    static const std::map<std::string, std::set<std::string>> known{
        {"logged-models/search", search_fields()},
        {"logged-models",
         {"experiment_id",
          "name",
          "source_run_id",
          "model_type",
          "params",
          "tags"}},
        {"runs/outputs", {"run_id", "models"}}};
    for (const auto& [name, value] : body.items())
      if (known.at(path).count(name) == 0) return "nobody documents " + name;
    return "";
  }

  Json
  answer(const std::string& path, const Json& body, const std::string& root) {
    if (path == "logged-models/search") return found(body, root);
    if (path == "logged-models") return made(body, root);
    for (const Json& each : body.at("models"))
      all.at(each.at("model_id")).is_output = each.at("step").is_number();
    return Json::object();
  }

  void add_params(const Json& body, const std::string& id) {
    for (const Json& each : body.at("params"))
      all.at(id).params[each.at("key")] = each.at("value");
  }

  void set_status(const Json& body, const std::string& id) {
    if (body.at("model_id") == id) all.at(id).status = body.at("status");
  }

 private:
  Json about(const std::string& id, const std::string& root) const {
    const ServerModel& model = all.at(id);
    return {
        {"info",
         {{"model_id", id},
          {"name", model.name},
          {"source_run_id", model.run},
          {"status", model.status},
          {"artifact_uri", root + "/1/models/" + id + "/artifacts"}}}};
  }

  Json found(const Json& body, const std::string& root) const {
    Json list = Json::object();
    for (const auto& [id, model] : all)
      if (body.at("filter") == "source_run_id = '" + model.run + "'")
        list["models"].push_back(about(id, root));
    return list;
  }

  Json made(const Json& body, const std::string& root) {
    const std::string id = "m-" + std::to_string(all.size());
    ServerModel model;
    model.name = body.at("name");
    model.run = body.at("source_run_id");
    for (const Json& each : body.at("params"))
      model.params[each.at("key")] = each.at("value");
    for (const Json& each : body.at("tags"))
      model.tags[each.at("key")] = each.at("value");
    all[id] = model;
    return {{"model", about(id, root)}};
  }
};

} // namespace temper::track
