#include "temper/cli/view/start_table.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/cli/terminal/figures.h"
#include "temper/train/schedule/schedule.h"

namespace temper::cli {
namespace {

std::string model_text(const train::EngineFacts& engine) {
  return cat(
      engine.model,
      ", ",
      count_text(engine.parameters),
      " parameters",
      engine.trainable == engine.parameters
          ? ", all trained"
          : cat(", ", count_text(engine.trainable), " of them trained"));
}

std::string data_text(const train::RunOverview& overview) {
  const std::string noun = noun_for(overview);
  const std::string shape = overview.input_shape.empty()
      ? ""
      : cat(" of ", numbers_text(overview.input_shape, " x "));
  return cat(
      overview.source,
      ": ",
      overview.train_samples > 0 ? cat(count_text(overview.train_samples),
                                       " ",
                                       noun,
                                       shape,
                                       " to train on")
                                 : cat("a stream of ", noun, shape),
      overview.val_samples > 0
          ? cat(", ", count_text(overview.val_samples), " to validate")
          : ", nothing to validate on",
      overview.test_samples > 0
          ? cat(", ", count_text(overview.test_samples), " to test")
          : "",
      overview.classes.empty()
          ? ""
          : cat(", ", overview.classes.size(), " classes"));
}

std::string training_text(
    const train::EngineFacts& engine,
    const config::Config& config) {
  return cat(
      engine.task,
      ", ",
      engine.loss,
      "; ",
      engine.optimizer,
      ", learning rate ",
      rate_text(config.optimizer.lr),
      " ",
      config.schedule.name,
      config.schedule.warmup > 0
          ? cat(" after ",
                train::epochs_text(config.schedule.warmup),
                " of warm-up")
          : "");
}

std::string batch_text(
    const train::RunOverview& overview,
    const config::Config& config) {
  return cat(
      config.train.batch * config.train.accumulate,
      overview.updates_per_epoch > 0
          ? cat(", ",
                plural(overview.updates_per_epoch, "update"),
                " an epoch, ",
                plural(config.train.epochs, "epoch"))
          : "");
}

std::string memory_text(const memory::Forecast& forecast) {
  return cat(
      "peak ",
      bytes_text(forecast.peak_bytes),
      " of tensors forecast",
      forecast.budget.bytes > 0
          ? cat(", of ", bytes_text(forecast.budget.bytes))
          : "",
      forecast.at_once < forecast.batch ? cat("; ",
                                              forecast.at_once,
                                              " of ",
                                              plural(forecast.batch, "sample"),
                                              " at once")
                                        : "");
}

} // namespace

std::string noun_for(const train::RunOverview& overview) {
  return overview.input_shape.size() == 3 ? "images" : "samples";
}

std::string
named_row(const std::string& name, const std::string& value, int width) {
  constexpr std::size_t kNames = 10;
  constexpr std::size_t kNarrowest = 20;
  const std::size_t room = std::max(
      static_cast<std::size_t>(std::max(width, 0)), kNames + 2 + kNarrowest);
  const std::string gap(name.size() < kNames ? kNames - name.size() : 1, ' ');
  return cat(
      "  ",
      name,
      gap,
      join(
          wrap(value, room - kNames - 2),
          cat("\n", std::string(kNames + 2, ' '))),
      "\n");
}

std::string start_table(
    const train::RunOverview& overview,
    const config::Config& config,
    int width,
    bool details) {
  std::string out;
  const auto row = [&](const std::string& name, const std::string& value) {
    out += named_row(name, value, width);
  };
  row("model", model_text(overview.engine));
  row("data", data_text(overview));
  row("training", training_text(overview.engine, config));
  row("batch", batch_text(overview, config));
  for (const auto& [name, value] : plan::start_rows(overview.settings, details))
    row(name, value);
  if (details && !overview.kernels.fused.empty())
    row("fused", overview.kernels.fused);
  if (details || overview.kernels.any_threads)
    row("bits", train::bits_text(overview.kernels));
  const memory::Forecast& forecast = overview.forecast;
  if (forecast.peak_bytes > 0) row("memory", memory_text(forecast));
  if (forecast.at_once > 0 && forecast.at_once < forecast.batch &&
      overview.engine.batch_norms > 0 && config.model.bn_group <= 1)
    row("", memory::batch_norm_note());
  for (const std::string& note : overview.notes)
    row("note", note);
  return out;
}

} // namespace temper::cli
