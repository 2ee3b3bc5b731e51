#include "temper/train/run/run_checks.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/op_name.h"
#include "temper/train/loop/progress.h"
#include "temper/train/schedule/updates.h"

namespace temper::train {
namespace {

// Batches of an epoch; no value for a generator.
std::optional<std::int64_t> batches_per_epoch(
    const config::Config& config,
    const RunData& data) {
  if (data.train_samples == 0) return std::nullopt;
  const std::int64_t batch = config.train.batch * config.train.accumulate;
  return config.train.drop_last ? data.train_samples / batch
                                : (data.train_samples + batch - 1) / batch;
}

void check_class_weights(
    const config::Config& config,
    const RunData& data,
    const RunModel& model) {
  const std::size_t weights = config.train.class_weights.size();
  if (weights == 0) return;
  if (data.info.target == data::Target::numbers)
    throw Error(
        cat("[train] train.class_weights needs classes, and the targets of ",
            data.source,
            " are numbers."),
        "Leave train.class_weights out.");
  const bool tokens = data.info.target == data::Target::tokens;
  const std::int64_t classes = model.outputs > 0 && !tokens ? model.outputs
      : tokens ? data.info.vocabulary
               : static_cast<std::int64_t>(data.info.classes.size());
  if (classes == 0 || static_cast<std::int64_t>(weights) == classes) return;
  throw Error(
      cat("[train] train.class_weights has ",
          plural(static_cast<std::int64_t>(weights), "number"),
          ", and there are ",
          count_text(classes),
          " classes."),
      "It takes one number for each class, in the order in which temper data "
      "check lists them.");
}

// The least number of words that a table of words has which reads the input
// itself; 0: there is none.
std::int64_t words_known(const graph::Graph& graph) {
  const auto users = graph.inputs_of(graph::InputKind::kUser);
  std::int64_t known = 0;
  for (const graph::Node& node : graph.nodes) {
    const graph::OpName op = graph::op_name(node.op);
    if (op.space != "aten" || op.name != "embedding") continue;
    const graph::Argument* table = node.find("weight");
    const graph::Argument* words = node.find("indices");
    if (table == nullptr || words == nullptr) continue;
    const auto read = graph::tensors_in(*words);
    const auto from = graph::tensors_in(*table);
    if (read.empty() || from.empty() ||
        std::none_of(users.begin(), users.end(), [&](const auto* user) {
          return user->value == read.front();
        }))
      continue;
    const graph::Sizes& sizes = graph.meta(from.front()).sizes;
    if (sizes.empty() || !sizes.front().fixed()) continue;
    const std::int64_t rows = sizes.front().value;
    known = known == 0 ? rows : std::min(known, rows);
  }
  return known;
}

// Sizes a network gives scores for: the largest of what follows the batch, as
// models have them first or last. 0: not known.
std::int64_t words_scored(const graph::Graph& graph) {
  const auto names = graph::tensors_in(graph.outputs.at(0).value);
  if (names.empty()) return 0;
  const graph::Sizes& sizes = graph.meta(names.front()).sizes;
  std::int64_t most = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (!sizes[i].fixed()) return 0;
    most = std::max(most, sizes[i].value);
  }
  return most;
}

void check_vocabulary(const RunData& data, const RunModel& model) {
  if (data.info.input != data::Input::tokens || !model.program) return;
  const auto refuse = [&](const char* does, std::int64_t words) {
    throw Error(
        cat("[train] ",
            model.name,
            does,
            count_text(words),
            " different tokens, and ",
            data.source,
            " has ",
            count_text(data.info.vocabulary),
            "."),
        "Export the model with the vocabulary of this text, or train on text "
        "with the one it was made for.");
  };
  const std::int64_t known = words_known(model.program->graph);
  if (known > 0 && known < data.info.vocabulary) refuse(" knows ", known);
  const std::int64_t scored = words_scored(model.program->graph);
  if (data.info.target == data::Target::tokens && scored > 0 &&
      scored < data.info.vocabulary)
    refuse(" gives scores for ", scored);
}

void check_metric(const config::Config& config, const RunData& data) {
  if (data.val_samples > 0 || data.val != nullptr) return;
  const MetricSums nothing;
  watched_metric(config, nothing, nullptr);
}

} // namespace

void check_run(
    const config::Config& config,
    const RunData& data,
    const RunModel& model) {
  const Updates length(config, batches_per_epoch(config, data));
  check_metric(config, data);
  check_class_weights(config, data, model);
  check_vocabulary(data, model);
}

} // namespace temper::train
