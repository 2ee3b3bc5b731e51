// The facts that trackers are told of a run before its first step, from the
// journal's first event.
#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/run_summary.h"
#include "temper/track/follow/translate.h"

namespace temper::track {
namespace {

using journal::Event;
using nlohmann::json;
namespace fields = journal::fields;

constexpr std::size_t kLongestParam = 6000;

json parsed(const Event& event, const char* field) {
  const json read =
      json::parse(event.json(field).value_or("{}"), nullptr, false);
  return read.is_object() ? read : json::object();
}

std::string text_in(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

// The decisions and their reasons as Markdown: MLflow shows it as the
// description.
std::string description(const json& plan) {
  std::string out = cat(
      "**", text_in(plan, "model"), "** on ", text_in(plan, "source"), "\n");
  const auto settings = plan.find("settings");
  if (settings != plan.end() && settings->is_object())
    for (const auto& [name, choice] : settings->items()) {
      if (!choice.is_object()) continue;
      const std::string reason = text_in(choice, "reason");
      if (!reason.empty())
        out += cat("\n- ", name, " ", text_in(choice, "value"), ": ", reason);
    }
  const auto notes = plan.find("notes");
  if (notes != plan.end() && notes->is_array())
    for (const json& note : *notes)
      if (note.is_string()) out += cat("\n- ", note.get<std::string>());
  return out;
}

std::string schema_of(const json& plan) {
  json shape = json::array({-1});
  const auto sizes = plan.find("input_shape");
  if (sizes != plan.end() && sizes->is_array())
    for (const json& size : *sizes)
      shape.push_back(size);
  const json features = json::array(
      {{{"type", "tensor"},
        {"tensor-spec", {{"dtype", "float32"}, {"shape", shape}}}}});
  return json{{"mlflow_tensorspec",
               {{"features", features.dump()}, {"targets", nullptr}}}}
      .dump();
}

void add_dataset(
    RunFacts& facts,
    const json& plan,
    const std::string& path,
    const char* samples_field,
    const char* context) {
  const auto samples = plan.find(samples_field);
  if (samples == plan.end() || !samples->is_number() ||
      samples->get<std::int64_t>() <= 0)
    return;
  const std::string source = text_in(plan, "source");
  Dataset made;
  made.name = shortened(source, 500);
  made.context = context;
  made.source_type = "local";
  made.source = json{{"uri", path.empty() ? source : path}}.dump();
  made.schema = schema_of(plan);
  made.profile = json{{"num_rows", *samples}}.dump();
  Hasher hash;
  hash.add(made.source);
  hash.add(made.schema);
  hash.add(made.profile);
  hash.add(made.context);
  made.digest = hex_text(hash.value()).substr(0, 8);
  facts.datasets.push_back(made);
}

std::string unquoted(const std::string& toml) {
  const bool plain_text = toml.size() >= 2 && toml.front() == '"' &&
      toml.back() == '"' && toml.find('\\') == std::string::npos;
  return plain_text ? toml.substr(1, toml.size() - 2) : toml;
}

} // namespace

RunFacts facts_of(const Event& run, const journal::RunDirectory& directory) {
  RunFacts facts;
  facts.directory = std::filesystem::absolute(directory.path);
  facts.name = directory.name();
  facts.start_ms = std::llround(run.time_s * 1000);
  const json plan = parsed(run, "plan");
  const json origin = parsed(run, "origin");
  facts.user = text_in(origin, "user");
  if (facts.user.empty()) facts.user = "unknown";

  std::string data_path;
  for (const auto& [key, value] :
       journal::config_keys(run.text(fields::kConfig).value_or(""))) {
    const std::string plain = unquoted(value);
    facts.params.push_back({clean_key(key), shortened(plain, kLongestParam)});
    if (key == "data.path") data_path = plain;
    if (key == "run.tags" && plain != "[]")
      facts.tags.push_back({"temper.tags", shortened(plain, kLongestTag)});
  }
  const auto tag = [&](const char* key, const std::string& value) {
    if (!value.empty())
      facts.tags.push_back({key, shortened(value, kLongestTag)});
  };
  tag("mlflow.runName", facts.name);
  tag("mlflow.user", facts.user);
  tag("mlflow.source.name", text_in(origin, "command"));
  tag("mlflow.source.type", "LOCAL");
  tag("mlflow.source.git.commit", text_in(origin, "git_commit"));
  tag("mlflow.source.git.branch", text_in(origin, "git_branch"));
  const auto dirty = origin.find("git_dirty");
  if (dirty != origin.end() && dirty->is_boolean())
    tag("mlflow.source.git.dirty", dirty->get<bool>() ? "True" : "False");
  tag("mlflow.note.content", description(plan));
  tag("temper.version", run.text(fields::kVersion).value_or(""));
  tag("temper.device", text_in(plan, "device"));
  tag("temper.model", text_in(plan, "model"));
  tag("temper.host", text_in(origin, "host"));
  tag("temper.directory", facts.directory.string());
  add_dataset(facts, plan, data_path, "train_samples", "training");
  add_dataset(facts, plan, data_path, "val_samples", "validation");
  add_dataset(facts, plan, data_path, "test_samples", "test");
  return facts;
}

} // namespace temper::track
