#include "temper/track/mlflow/mlflow_http.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/track/follow/identity.h"
#include "temper/track/follow/translate.h"
#include "temper/track/mlflow/mlflow_json.h"
#include "temper/track/mlflow/mlflow_logged_model.h"
#include "temper/track/mlflow/mlflow_model.h"

namespace temper::track {
namespace {

using nlohmann::json;

constexpr const char* kKeyTag = "temper.key"; // by which a run is found again
constexpr std::size_t kMostItems = 1000;
constexpr std::size_t kMostBytes = 900'000;

// There is no such experiment or run.
class NotThere : public Error {
 public:
  using Error::Error;
};
// Somebody else made it first.
class AlreadyThere : public Error {
 public:
  using Error::Error;
};

// The run that runs/get and runs/search tell of.
std::optional<StoredRun> stored_run(const json& run) {
  const json& info = part(run, "info");
  StoredRun found;
  found.id = text_at(info, "run_id");
  if (found.id.empty() || text_at(info, "lifecycle_stage") == "deleted")
    return std::nullopt;
  found.memory =
      json{
          {"run_id", found.id}, {"artifact_uri", text_at(info, "artifact_uri")}}
          .dump();
  for (const json& tag : part(part(run, "data"), "tags"))
    if (text_at(tag, "key") == kPlaceTag) found.place = text_at(tag, "value");
  // Whole numbers may come as texts, as 64 bits do in protocol buffers.
  const auto whole = [](const json& from, const char* name) {
    return parse_int(text_at(from, name)).value_or(0);
  };
  for (const json& metric : part(part(run, "data"), "metrics"))
    found.metrics[text_at(metric, "key")] = {
        whole(metric, "step"), whole(metric, "timestamp")};
  return found;
}

bool passing(long status) {
  return status == 408 || status == 429 || status == 500 || status == 502 ||
      status == 503 || status == 504;
}

} // namespace

MlflowHttp::MlflowHttp(const std::string& url, HttpSettings settings)
    : client_(url, std::move(settings)) {}

std::string MlflowHttp::where() const {
  return client_.base();
}

std::string MlflowHttp::memory() const {
  if (run_id_.empty()) return "";
  return json{{"run_id", run_id_}, {"artifact_uri", artifact_uri_}}.dump();
}

json MlflowHttp::judge(const HttpReply& reply, const std::string& call) {
  const json answer = json::parse(reply.body, nullptr, false);
  const std::string base = client_.base();
  if (reply.status >= 200 && reply.status < 300) {
    if (answer.is_object()) return answer;
    throw Unavailable(
        cat("[track] ",
            base,
            " answered ",
            call,
            " with something that is not MLflow's (",
            reply.content_type.empty() ? "no type" : reply.content_type,
            ", ",
            plural(static_cast<std::int64_t>(reply.body.size()), "byte"),
            ")."),
        "Is there a proxy or a login page in front of the server?");
  }
  const std::string code = text_at(answer, "error_code");
  const std::string message =
      client_.hidden(shortened(text_at(answer, "message"), 500));
  const std::string said = code.empty()
      ? cat("status ", reply.status)
      : cat(code, message.empty() ? "" : cat(": ", message));
  const std::string what =
      cat("[track] ", base, " refused ", call, ": ", said, ".");
  if (passing(reply.status))
    throw Unavailable(
        what, "The server has trouble of its own.", reply.retry_after_s);
  if (reply.status >= 300 && reply.status < 400)
    throw Error(what, "It leads elsewhere: to a login page?");
  if (reply.status == 401)
    throw Error(
        what,
        "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or "
        "MLFLOW_TRACKING_TOKEN.");
  if (reply.status == 403 && contains(reply.body, "Invalid Host header"))
    throw Error(
        cat("[track] ", base, " does not answer to this host name."),
        "Start the server with --allowed-hosts and this name, or reach it as "
        "localhost.");
  if (reply.status == 403) throw Error(what, "This user may not write there.");
  if (code == "RESOURCE_DOES_NOT_EXIST") throw NotThere(what);
  if (code == "RESOURCE_ALREADY_EXISTS") throw AlreadyThere(what);
  if (reply.status == 404)
    throw Error(
        cat("[track] there is no MLflow server at ", base, "."),
        "Look at the address and its path.");
  throw Error(what);
}

json MlflowHttp::get(const std::string& call, const std::vector<Pair>& query) {
  std::string url = cat(client_.base(), kMlflowApi, call);
  char mark = '?';
  for (const auto& [key, value] : query) {
    url += cat(mark, key, "=", percent_encoded(value));
    mark = '&';
  }
  return judge(client_.get(url), call);
}

json MlflowHttp::post(const std::string& call, const json& body) {
  return judge(
      client_.post(cat(client_.base(), kMlflowApi, call), dump(body)), call);
}

bool MlflowHttp::take_run(const json& answer) {
  const json& info = part(part(answer, "run"), "info");
  run_id_ = text_at(info, "run_id");
  artifact_uri_ = text_at(info, "artifact_uri");
  experiment_ = text_at(info, "experiment_id");
  if (run_id_.empty())
    throw Unavailable(
        cat("[track] ", client_.base(), " gave a run without an id."),
        "Is there a proxy in front of the server?");
  if (text_at(info, "lifecycle_stage") == "deleted")
    throw Error(
        cat("[track] the run was deleted at ", client_.base(), "."),
        "Restore it there, or remove the run's track-*.json to begin a new "
        "one.");
  return true;
}

bool MlflowHttp::known_run(const std::string& id) {
  try {
    return take_run(get("runs/get", {{"run_id", id}}));
  } catch (const NotThere&) {
    return false;
  }
}

bool MlflowHttp::has_run(const std::string& id) {
  try {
    const json answer = get("runs/get", {{"run_id", id}});
    const json& info = part(part(answer, "run"), "info");
    return text_at(info, "lifecycle_stage") != "deleted";
  } catch (const NotThere&) {
    return false;
  }
}

std::string MlflowHttp::find_experiment(const RunFacts& run) {
  if (!run.experiment_id.empty()) return run.experiment_id;
  for (int round = 0;; ++round) {
    try {
      const json answer =
          get("experiments/get-by-name", {{"experiment_name", run.experiment}});
      const json& found = part(answer, "experiment");
      if (text_at(found, "lifecycle_stage") == "deleted")
        throw Error(
            cat("[track] the experiment ",
                run.experiment,
                " is deleted at ",
                client_.base(),
                "."),
            "Restore it there, or choose another with track.experiment.");
      const std::string id = text_at(found, "experiment_id");
      if (!id.empty()) return id;
      throw Unavailable(cat(
          "[track] ", client_.base(), " gave an experiment without an id."));
    } catch (const NotThere&) {
      if (round > 2) throw;
    }
    try {
      const std::string id = text_at(
          post("experiments/create", {{"name", run.experiment}}),
          "experiment_id");
      if (!id.empty()) return id;
    } catch (const AlreadyThere&) { // made by another since: ask again
    }
  }
}

json MlflowHttp::search(const std::string& experiment, const std::string& key) {
  const json answer = post(
      "runs/search",
      {{"experiment_ids", {experiment}},
       {"filter", cat("tags.`", kKeyTag, "` = '", key, "'")},
       {"max_results", 1}});
  const json& runs = part(answer, "runs");
  return runs.is_array() ? runs : json::array();
}

std::optional<StoredRun> MlflowHttp::find(
    const RunFacts& run,
    const std::string& memory) {
  const std::string known =
      text_at(json::parse(memory, nullptr, false), "run_id");
  json stored;
  try {
    if (!known.empty()) {
      stored = part(get("runs/get", {{"run_id", known}}), "run");
    } else {
      std::string experiment = run.experiment_id;
      if (experiment.empty()) {
        const json answer = get(
            "experiments/get-by-name", {{"experiment_name", run.experiment}});
        experiment = text_at(part(answer, "experiment"), "experiment_id");
      }
      const json runs = search(experiment, run.key);
      if (!runs.empty()) stored = runs[0];
    }
  } catch (const NotThere&) {
    return std::nullopt;
  }
  return stored_run(stored);
}

void MlflowHttp::find_or_make_run(const RunFacts& run) {
  const std::string experiment = find_experiment(run);
  // An answer that got lost may have left a run behind.
  const json runs = search(experiment, run.key);
  if (!runs.empty()) {
    take_run({{"run", runs[0]}});
    return;
  }
  std::vector<Pair> tags = run.tags;
  tags.push_back({kKeyTag, run.key});
  tags.resize(std::min(tags.size(), kMostPairs));
  take_run(post(
      "runs/create",
      {{"experiment_id", experiment},
       {"start_time", run.start_ms},
       {"run_name", run.name},
       {"user_id", run.user},
       {"tags", pairs(tags)}}));
}

void MlflowHttp::log_facts(const RunFacts& run) {
  log_batch({}, run.params, {});
  json datasets = json::array();
  for (const Dataset& each : run.datasets)
    datasets.push_back(
        {{"tags",
          json::array(
              {{{"key", "mlflow.data.context"}, {"value", each.context}}})},
         {"dataset",
          {{"name", each.name},
           {"digest", each.digest},
           {"source_type", each.source_type},
           {"source", each.source},
           {"schema", each.schema},
           {"profile", each.profile}}}});
  if (!datasets.empty())
    post("runs/log-inputs", {{"run_id", run_id_}, {"datasets", datasets}});
}

bool MlflowHttp::begin(const RunFacts& run, const std::string& memory) {
  facts_ = run;
  const std::string known =
      text_at(json::parse(memory, nullptr, false), "run_id");
  if (!known.empty() && known_run(known)) return false;
  run_id_.clear();
  if (!run.adopt.empty() && known.empty()) {
    if (!known_run(run.adopt))
      throw Error(
          cat("[track] MLFLOW_RUN_ID is ",
              run.adopt,
              ", and ",
              client_.base(),
              " has no such run."),
          "Unset it to begin a new run.");
  } else {
    find_or_make_run(run);
  }
  log_facts(run);
  return true;
}

void MlflowHttp::log_batch(
    const std::vector<Point>& points,
    const std::vector<Pair>& params,
    const std::vector<Pair>& tags) {
  std::size_t point = 0;
  std::size_t param = 0;
  std::size_t tag = 0;
  while (point < points.size() || param < params.size() || tag < tags.size()) {
    json metrics = json::array();
    std::vector<Pair> some_params;
    std::vector<Pair> some_tags;
    std::size_t bytes = 0;
    std::size_t items = 0;
    const auto room = [&](std::size_t more) {
      if (items >= kMostItems || (items > 0 && bytes + more > kMostBytes))
        return false;
      ++items;
      bytes += more;
      return true;
    };
    const auto take = [&](const std::vector<Pair>& from,
                          std::size_t& at,
                          std::vector<Pair>& into) {
      while (at < from.size() && into.size() < kMostPairs &&
             room(from[at].key.size() + from[at].value.size() * 2 + 32))
        into.push_back(from[at++]);
    };
    take(params, param, some_params);
    take(tags, tag, some_tags);
    while (point < points.size() && room(points[point].key.size() + 100)) {
      const Point& each = points[point++];
      metrics.push_back(
          {{"key", each.key},
           {"value", number(each.value)},
           {"timestamp", each.time_ms},
           {"step", each.step}});
    }
    post(
        "runs/log-batch",
        {{"run_id", run_id_},
         {"metrics", metrics},
         {"params", pairs(some_params)},
         {"tags", pairs(some_tags)}});
  }
}

void MlflowHttp::deliver(const Delivery& batch) {
  std::vector<Pair> tags = batch.tags;
  for (const Artifact& artifact : batch.artifacts) {
    put_artifact(artifact, artifact_uri_);
    if (auto tag = model_history_tag(artifact, run_id_))
      tags.push_back(*std::move(tag));
  }
  // The same key twice in a request is refused: the last one counts.
  std::vector<Pair> last;
  for (const Pair& tag : tags) {
    const auto same =
        std::find_if(last.begin(), last.end(), [&](const Pair& other) {
          return other.key == tag.key;
        });
    if (same == last.end())
      last.push_back(tag);
    else
      same->value = tag.value;
  }
  log_batch(batch.points, {}, last);
  for (const Artifact& artifact : batch.artifacts)
    if (const auto model = logged_model_of(artifact))
      put_model(artifact, *model);
  if (!batch.status) return;
  json update{{"run_id", run_id_}, {"status", to_string(batch.status->status)}};
  if (batch.status->status != Status::running)
    update["end_time"] = batch.status->time_ms;
  post("runs/update", update);
}

} // namespace temper::track
