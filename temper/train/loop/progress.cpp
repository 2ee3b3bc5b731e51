#include "temper/train/loop/progress.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {
namespace {

using nlohmann::json;

// Doubles go through their shortest exact text; NaN has none in JSON.
json number(double value) {
  return std::isfinite(value) ? json(value) : json(std::to_string(value));
}

double number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (contains(text, "nan")) return std::nan("");
  return text.at(0) == '-' ? -HUGE_VAL : HUGE_VAL;
}

json to_json(const MetricSums& sums) {
  json own = json::object();
  for (const auto& [name, pair] : sums.own)
    own[name] = {number(pair.first), number(pair.second)};
  return {
      {"loss", number(sums.loss)},
      {"units", sums.units},
      {"samples", sums.samples},
      {"predictions", sums.predictions},
      {"correct", sums.correct},
      {"correct_top", sums.correct_top},
      {"top", sums.top},
      {"numbers", sums.numbers},
      {"absolute_error", number(sums.absolute_error)},
      {"squared_error", number(sums.squared_error)},
      {"target_sum", number(sums.target_sum)},
      {"target_squares", number(sums.target_squares)},
      {"own", own}};
}

// The confusion matrix is validation's, which a resumed run begins again.
MetricSums sums_of(const json& from) {
  MetricSums sums;
  sums.loss = number_of(from.at("loss"));
  sums.units = from.at("units");
  sums.samples = from.at("samples");
  sums.predictions = from.at("predictions");
  sums.correct = from.at("correct");
  sums.correct_top = from.at("correct_top");
  sums.top = from.at("top");
  sums.numbers = from.at("numbers");
  sums.absolute_error = number_of(from.at("absolute_error"));
  sums.squared_error = number_of(from.at("squared_error"));
  sums.target_sum = number_of(from.at("target_sum"));
  sums.target_squares = number_of(from.at("target_squares"));
  for (const auto& [name, pair] : from.at("own").items())
    sums.own[name] = {number_of(pair.at(0)), number_of(pair.at(1))};
  return sums;
}

json to_json(const GuardState& guard) {
  json losses = json::array();
  for (const double loss : guard.losses)
    losses.push_back(number(loss));
  return {
      {"in_a_row", guard.in_a_row},
      {"rollbacks", guard.rollbacks},
      {"furthest", guard.furthest},
      {"lr_factor", guard.lr_factor},
      {"losses", losses}};
}

GuardState guard_of(const json& from) {
  GuardState guard;
  guard.in_a_row = from.at("in_a_row");
  guard.rollbacks = from.at("rollbacks");
  guard.furthest = from.at("furthest");
  guard.lr_factor = from.at("lr_factor");
  for (const json& loss : from.at("losses"))
    guard.losses.push_back(number_of(loss));
  return guard;
}

// Older runs did not keep what an epoch under way had taken: as much of the
// run's time as its steps are of all updates.
double share_of_epoch(const Progress& progress) {
  return progress.update > 0
      ? progress.run.all_s * static_cast<double>(progress.step) /
          static_cast<double>(std::max(progress.update, progress.step))
      : 0;
}

} // namespace

std::string Progress::to_json() const {
  json made{
      {"epoch", epoch},
      {"update", update},
      {"step", step},
      {"epoch_sums", train::to_json(epoch_sums)},
      {"engine_sums", train::to_json(engine_sums)},
      {"watched", watched},
      {"best_epoch", best_epoch},
      {"epochs_since_best", epochs_since_best},
      {"plateau_drops", plateau_drops},
      {"guard", train::to_json(guard)},
      {"governor", governor},
      {"seconds", run.all_s},
      {"spent_s",
       {{"waiting", run.waiting_s},
        {"evaluating", run.evaluating_s},
        {"epoch", in_epoch.all_s},
        {"epoch_waiting", in_epoch.waiting_s}}}};
  if (best) made["best"] = number(*best);
  if (best_loss) made["best_loss"] = number(*best_loss);
  return made.dump();
}

Progress Progress::from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    Progress made;
    made.epoch = from.at("epoch");
    made.update = from.at("update");
    made.step = from.at("step");
    made.epoch_sums = sums_of(from.at("epoch_sums"));
    // Checkpoints of format 1 have neither.
    if (from.contains("engine_sums"))
      made.engine_sums = sums_of(from.at("engine_sums"));
    made.watched = from.value("watched", "");
    if (from.contains("best")) {
      const double best = number_of(from.at("best"));
      if (std::isfinite(best)) made.best = best; // older runs took any
    }
    if (from.contains("best_loss"))
      made.best_loss = number_of(from.at("best_loss"));
    made.best_epoch = from.at("best_epoch");
    made.epochs_since_best = from.at("epochs_since_best");
    made.plateau_drops = from.at("plateau_drops");
    // Older runs had neither.
    if (from.contains("guard")) made.guard = guard_of(from.at("guard"));
    made.governor = from.value("governor", "");
    made.run.all_s = from.at("seconds");
    const json spent = from.value("spent_s", json::object());
    made.run.waiting_s = spent.value("waiting", 0.0);
    made.run.evaluating_s = spent.value("evaluating", 0.0);
    made.in_epoch.all_s = spent.value("epoch", share_of_epoch(made));
    made.in_epoch.waiting_s = spent.value("epoch_waiting", 0.0);
    return made;
  } catch (const std::exception& error) {
    throw Error(
        cat("[train] a checkpoint's progress cannot be read: ",
            error.what(),
            "."),
        "Resume from an older checkpoint.");
  }
}

std::string watched_metric(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums* val) {
  if (config.checkpoint.metric != "auto") {
    const std::string& name = config.checkpoint.metric;
    if (std::isnan(watched_value(name, train, val)) && val == nullptr &&
        name.starts_with("val_"))
      throw Error(
          cat("[train] checkpoint.metric = ",
              name,
              " needs validation data, and there is none."),
          "Set data.val_fraction above 0, or checkpoint.metric = "
          "\"train_loss\".");
    return name;
  }
  if (val == nullptr) return "train_loss";
  return val->predictions > 0 && val->predictions == val->samples
      ? "val_accuracy"
      : "val_loss";
}

double watched_value(
    const std::string& watched,
    const MetricSums& train,
    const MetricSums* val) {
  const auto underscore = watched.find('_');
  const std::string part = watched.substr(0, underscore);
  const std::string name = watched.substr(underscore + 1);
  if (part == "train") return metric(train, name);
  return val == nullptr ? std::nan("") : metric(*val, name);
}

bool close_epoch(
    Progress& progress,
    const config::Config& config,
    const std::string& watched,
    double value,
    double loss) {
  const bool better = std::isfinite(value) &&
      (!progress.best ||
       (larger_is_better(watched) ? value > *progress.best
                                  : value < *progress.best));
  const bool tied = progress.best && value == *progress.best &&
      progress.best_loss && loss < *progress.best_loss;
  if (better || tied) {
    progress.best = value;
    progress.best_loss =
        std::isfinite(loss) ? std::optional(loss) : std::nullopt;
    progress.best_epoch = progress.epoch;
  }
  if (better) {
    progress.epochs_since_best = 0;
    return true;
  }
  ++progress.epochs_since_best;
  const auto patience =
      std::max<std::int64_t>(std::llround(config.schedule.step), 1);
  if (progress.epochs_since_best % patience == 0) ++progress.plateau_drops;
  return tied;
}

} // namespace temper::train
