// The logged models of a tracking server. Those of MLflow 2 have none.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/track/mlflow/mlflow_http.h"
#include "temper/track/mlflow/mlflow_json.h"
#include "temper/track/mlflow/mlflow_logged_model.h"

namespace temper::track {

using nlohmann::json;

// Where its files go; empty when the server has no models. One that an answer
// which got lost left behind is found again.
std::string MlflowHttp::make_model(const LoggedModel& model, std::string& id) {
  const auto take = [&](const json& from) {
    const json& info = part(from, "info");
    id = text_at(info, "model_id");
    return text_at(info, "artifact_uri");
  };
  try {
    const json found = post(
        "logged-models/search",
        {{"experiment_ids", {experiment_}},
         {"filter", cat("source_run_id = '", run_id_, "'")},
         {"max_results", 50}});
    const json& models = part(found, "models");
    if (models.is_array())
      for (const json& each : models)
        if (text_at(part(each, "info"), "name") == model.name)
          return take(each);
    const auto params = [&](std::size_t from) {
      const auto& all = facts_.params;
      const std::size_t end = std::min(all.size(), from + kMostPairs);
      return pairs({all.begin() + from, all.begin() + end});
    };
    std::vector<Pair> tags;
    for (const Pair& tag : facts_.tags)
      if (is_model_tag(tag.key)) tags.push_back(tag);
    const std::string uri = take(part(
        post(
            "logged-models",
            {{"experiment_id", experiment_},
             {"name", model.name},
             {"source_run_id", run_id_},
             {"params", params(0)},
             {"tags", pairs(tags)}}),
        "model"));
    for (std::size_t from = kMostPairs; from < facts_.params.size();
         from += kMostPairs)
      post(
          cat("logged-models/", id, "/params"),
          {{"model_id", id}, {"params", params(from)}});
    return uri;
  } catch (const Unavailable&) {
    throw;
  } catch (const Error&) { // MLflow 2 has no such thing
    return "";
  }
}

// The same points as the run's, which say of which model they are.
void MlflowHttp::log_model_metrics(const std::string& id) {
  json metrics = json::array();
  for (const Point& point : model_points({facts_.directory}))
    metrics.push_back(
        {{"key", point.key},
         {"value", number(point.value)},
         {"timestamp", point.time_ms},
         {"step", point.step},
         {"model_id", id}});
  if (!metrics.empty())
    post("runs/log-batch", {{"run_id", run_id_}, {"metrics", metrics}});
}

void MlflowHttp::put_model(const Artifact& mlmodel, const LoggedModel& model) {
  std::string id;
  const std::string uri = make_model(model, id);
  if (uri.empty() || id.empty()) return;
  const std::filesystem::path folder = mlmodel.file.parent_path();
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder, failed))
    if (entry.is_regular_file(failed))
      put_artifact(
          {entry.path(),
           entry.path().lexically_relative(folder).generic_string()},
          uri);
  judge(
      client_.patch(
          cat(client_.base(), kMlflowApi, "logged-models/", id),
          dump({{"model_id", id}, {"status", "LOGGED_MODEL_READY"}})),
      "logged-models");
  log_model_metrics(id);
  post(
      "runs/outputs",
      {{"run_id", run_id_},
       {"models", json::array({{{"model_id", id}, {"step", model.step}}})}});
}

} // namespace temper::track
