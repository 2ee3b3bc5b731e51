#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/plan/plan.h"

namespace temper::plan {
namespace {

using Json = nlohmann::ordered_json;

// The first had neither spreads nor the load: runs of that time still go on.
constexpr int kSchema = 2;
constexpr int kFirstSchema = 1;
constexpr TrialVerdict kVerdicts[] = {
    TrialVerdict::chosen,
    TrialVerdict::equal,
    TrialVerdict::slower,
    TrialVerdict::rejected,
    TrialVerdict::failed,
    TrialVerdict::hung,
    TrialVerdict::no_memory,
    TrialVerdict::skipped};

// One name for each choice, for both directions.
struct Named {
  const char* name;
  Choice Plan::*choice;
};
constexpr Named kChoices[] = {
    {"device", &Plan::device},
    {"layout", &Plan::layout},
    {"threads", &Plan::threads},
    {"workers", &Plan::workers},
    {"precision", &Plan::precision},
    {"kernels", &Plan::kernels},
    {"micro_batch", &Plan::micro_batch}};

[[noreturn]] void refuse_field(const std::string& key, const std::string& why) {
  throw Error(
      cat("[plan] this is not a plan: ", key, " ", why, "."),
      "Clear the remembered plans (temper plan clear) and measure again.");
}

// An object that is read key by key; what nobody asked for is an error.
class Reader {
 public:
  Reader(const Json& json, std::string place)
      : json_(json), place_(std::move(place)) {
    if (!json_.is_object()) refuse_field(place_, "is not an object");
  }

  const Json& at(const char* key) {
    ++read_;
    const auto found = json_.find(key);
    if (found == json_.end()) refuse_field(name(key), "is missing");
    return *found;
  }
  std::string text(const char* key) {
    const Json& value = at(key);
    if (!value.is_string()) refuse_field(name(key), "is not text");
    return value.get<std::string>();
  }
  bool flag(const char* key) {
    const Json& value = at(key);
    if (!value.is_boolean())
      refuse_field(name(key), "is neither true nor false");
    return value.get<bool>();
  }
  double seconds(const char* key) {
    return number(key, "is not a number of seconds");
  }
  double number(const char* key, const char* why = "is not a number") {
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= 0) ||
        !std::isfinite(value.get<double>()))
      refuse_field(name(key), why);
    return value.get<double>();
  }
  // Absent in the first schema; null: no value.
  std::optional<double> maybe_number(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) return std::nullopt;
    if (!found->is_null()) return number(key);
    ++read_;
    return std::nullopt;
  }
  int count(const char* key) {
    constexpr std::int64_t kMost = 1024;
    const Json& value = at(key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
        value.get<std::int64_t>() > kMost)
      refuse_field(name(key), cat("is not a whole number from 1 to ", kMost));
    return value.get<int>();
  }
  const Json& list(const char* key) {
    const Json& value = at(key);
    if (!value.is_array()) refuse_field(name(key), "is not a list");
    return value;
  }
  std::string name(const char* key) const {
    return cat(place_, place_.empty() ? "" : ".", key);
  }
  // Every key was asked for.
  void done() const {
    if (read_ != json_.size())
      refuse_field(
          place_.empty() ? "it" : place_, "has keys that a plan has not");
  }

 private:
  const Json& json_;
  std::string place_;
  std::size_t read_ = 0;
};

Json json(const Setting& setting) {
  return {
      {"device", setting.device},
      {"layout", to_text(setting.layout)},
      {"threads", setting.threads},
      {"precision", to_text(setting.precision)},
      {"kernels", to_text(setting.kernels)}};
}

Json json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json(const machine::Load& load) {
  return {
      {"busy", load.busy()},
      {"others", load.others},
      {"stolen", load.stolen},
      {"throttled", load.throttled},
      {"own", load.own},
      {"cores", load.cores},
      {"usable", load.usable},
      {"average", json(load.average)}};
}

machine::Load read_load(const Json& json) {
  Reader reader(json, "load");
  machine::Load load;
  reader.flag("busy");
  load.others = reader.number("others");
  load.stolen = reader.number("stolen");
  load.throttled = reader.number("throttled");
  load.own = reader.number("own");
  load.cores = reader.number("cores");
  load.usable = reader.number("usable");
  load.average = reader.maybe_number("average");
  reader.done();
  return load;
}

Json json(const Tried& tried) {
  return {
      {"setting", json(tried.setting)},
      {"step_s", json(tried.step_s)},
      {"spread", json(tried.spread)},
      {"verdict", to_string(tried.verdict)},
      {"why", tried.why}};
}

Setting read_setting(const Json& json, const std::string& place) {
  Reader reader(json, place);
  Setting setting;
  setting.device = reader.text("device");
  const std::string layout = reader.text("layout");
  setting.threads = reader.count("threads");
  const std::string precision = reader.text("precision");
  // Older plans know LibTorch's only.
  const std::string kernels =
      json.contains("kernels") ? reader.text("kernels") : "stock";
  reader.done();
  const auto known_kernels = config::kernels_from_text(kernels);
  const auto known_layout = config::layout_from_text(layout);
  const auto known_precision = config::precision_from_text(precision);
  if (!known_layout || !known_precision || !known_kernels)
    refuse_field(
        place, "has a layout, a precision or kernels that nobody knows");
  setting.layout = *known_layout;
  setting.precision = *known_precision;
  setting.kernels = *known_kernels;
  return setting;
}

TrialVerdict read_verdict(const std::string& word, const std::string& place) {
  for (const TrialVerdict verdict : kVerdicts)
    if (word == to_string(verdict)) return verdict;
  refuse_field(place, cat("is \"", word, "\", which is no verdict"));
}

Tried read_tried(const Json& json, const std::string& place) {
  Reader reader(json, place);
  Tried tried;
  tried.setting = read_setting(reader.at("setting"), reader.name("setting"));
  if (json.contains("step_s") && json["step_s"].is_null())
    reader.at("step_s");
  else
    tried.step_s = reader.seconds("step_s");
  tried.spread = reader.maybe_number("spread");
  tried.verdict = read_verdict(reader.text("verdict"), reader.name("verdict"));
  tried.why = reader.text("why");
  reader.done();
  return tried;
}

RuledOut read_ruled_out(const Json& json, const std::string& place) {
  Reader reader(json, place);
  RuledOut out{reader.text("what"), reader.text("why")};
  reader.done();
  return out;
}

} // namespace

std::string to_json(const Plan& plan) {
  Json all = {{"schema", kSchema}};
  for (const Named& each : kChoices)
    all[each.name] = {
        {"value", (plan.*each.choice).value},
        {"reason", (plan.*each.choice).reason}};
  all["tried"] = Json::array();
  for (const Tried& each : plan.tried)
    all["tried"].push_back(json(each));
  all["ruled_out"] = Json::array();
  for (const RuledOut& each : plan.ruled_out)
    all["ruled_out"].push_back({{"what", each.what}, {"why", each.why}});
  all["warnings"] = plan.warnings;
  all["seconds"] = plan.seconds;
  all["part"] = plan.part;
  all["load"] = plan.load ? json(*plan.load) : Json(nullptr);
  all["remembered"] = plan.remembered;
  // Reasons may quote what a library said, in whatever bytes.
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Plan plan_from_json(const std::string& text) {
  const Json all = Json::parse(text, nullptr, false);
  if (all.is_discarded()) refuse_field("the text", "is not JSON");
  Reader reader(all, "");
  const Json& schema = reader.at("schema");
  if (schema != kSchema && schema != kFirstSchema)
    refuse_field("schema", cat("is ", schema.dump(), ", not ", kSchema));
  Plan plan;
  for (const Named& each : kChoices) {
    Reader choice(reader.at(each.name), each.name);
    (plan.*each.choice).value = choice.text("value");
    (plan.*each.choice).reason = choice.text("reason");
    choice.done();
  }
  if (!parse_int(plan.threads.value))
    refuse_field("threads.value", "is not a whole number");
  const std::string& layout = plan.layout.value;
  if (!layout.empty() && !config::layout_from_text(layout))
    refuse_field(
        "layout.value", cat("is \"", layout, "\", which is no layout"));
  const std::string& precision = plan.precision.value;
  if (!precision.empty() && !config::precision_from_text(precision))
    refuse_field(
        "precision.value", cat("is \"", precision, "\", which is none"));
  int n = 0;
  for (const Json& each : reader.list("tried"))
    plan.tried.push_back(read_tried(each, cat("tried[", n++, "]")));
  n = 0;
  for (const Json& each : reader.list("ruled_out"))
    plan.ruled_out.push_back(read_ruled_out(each, cat("ruled_out[", n++, "]")));
  for (const Json& each : reader.list("warnings")) {
    if (!each.is_string()) refuse_field("warnings", "are not texts");
    plan.warnings.push_back(each.get<std::string>());
  }
  plan.seconds = reader.seconds("seconds");
  plan.part = schema == kSchema ? reader.number("part") : 1;
  if (schema == kSchema)
    if (const Json& load = reader.at("load"); !load.is_null())
      plan.load = read_load(load);
  plan.remembered = reader.flag("remembered");
  reader.done();
  return plan;
}

} // namespace temper::plan
