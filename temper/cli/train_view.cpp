#include "temper/cli/train_view.h"

#include <algorithm>
#include <cmath>

#include "temper/base/text.h"

namespace temper::cli {
namespace {

constexpr auto kPlainEvery = std::chrono::seconds(10);

std::string left(const std::string& text, std::size_t width) {
  return text.size() >= width ? text
                              : text + std::string(width - text.size(), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text
                              : std::string(width - text.size(), ' ') + text;
}

std::string percent(double part) {
  return std::isnan(part) ? "-" : cat(decimals(part * 100, 2), " %");
}

std::string loss_text(double loss) {
  return std::isnan(loss) ? "-" : decimals(loss, 4);
}

// 0.001 as "0.001", 0.00012345 as "1.23e-04".
std::string rate_text(double rate) {
  std::ostringstream out;
  out.precision(3);
  out << rate;
  return out.str();
}

std::string bar(double part, std::size_t width) {
  const auto full = static_cast<std::size_t>(
      std::clamp(part, 0.0, 1.0) * static_cast<double>(width));
  return cat("[", std::string(full, '='), std::string(width - full, ' '), "]");
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> parts;
  for (const std::int64_t size : shape)
    parts.push_back(cat(size));
  return join(parts, " x ");
}

} // namespace

std::string plan_text(
    const train::RunPlan& plan,
    const config::Config& config) {
  std::string out;
  const auto row = [&](const std::string& name, const std::string& value) {
    out += cat("  ", left(name, 10), value, "\n");
  };
  const auto& engine = plan.engine;
  row("model",
      cat(engine.model,
          ", ",
          count_text(engine.parameters),
          " parameters",
          engine.trainable == engine.parameters
              ? ""
              : cat(", ", count_text(engine.trainable), " of them trained")));
  row("data",
      cat(plan.source,
          ": ",
          plan.train_samples > 0
              ? cat(count_text(plan.train_samples), " samples to train on")
              : "a stream of samples",
          plan.val_samples > 0
              ? cat(", ", count_text(plan.val_samples), " to validate")
              : ", nothing to validate on"));
  row("input", shape_text(plan.input_shape));
  row("task", cat(engine.task, ", ", engine.loss));
  row("optimizer",
      cat(engine.optimizer,
          ", lr ",
          rate_text(config.optimizer.lr),
          " ",
          config.schedule.name,
          config.schedule.warmup > 0
              ? cat(" after ", config.schedule.warmup, " epochs of warm-up")
              : ""));
  const std::int64_t batch = config.train.batch * config.train.accumulate;
  row("batch",
      cat(batch,
          plan.updates_per_epoch > 0 ? cat(", ",
                                           count_text(plan.updates_per_epoch),
                                           " updates an epoch, ",
                                           plural(config.train.epochs, "epoch"))
                                     : ""));
  row("device", engine.device);
  for (const std::string& note : plan.notes)
    row("note", note);
  return out;
}

std::string
glimpse_text(const train::Glimpse& glimpse, double epoch_s, int width) {
  std::string out = cat("epoch ", glimpse.epoch + 1, "/", glimpse.epochs, " ");
  const double part = glimpse.steps > 0
      ? static_cast<double>(glimpse.step) / static_cast<double>(glimpse.steps)
      : 0;
  if (glimpse.steps > 0)
    out += cat(bar(part, 16), " ", glimpse.step, "/", glimpse.steps);
  else
    out += cat("step ", glimpse.step);
  if (glimpse.validating) {
    out += "  validating";
  } else {
    out += cat("  loss ", loss_text(glimpse.loss));
    if (!std::isnan(glimpse.accuracy))
      out += cat("  acc ", percent(glimpse.accuracy));
    out += cat("  lr ", rate_text(glimpse.lr));
    if (glimpse.samples_per_s > 0)
      out += cat("  ", decimals(glimpse.samples_per_s, 0), "/s");
    if (part > 0 && part < 1)
      out += cat("  ", seconds_text(epoch_s * (1 - part) / part), " left");
    if (glimpse.memory_bytes > 0)
      out += cat("  ", bytes_text(glimpse.memory_bytes));
    out += cat("  data wait ", decimals(glimpse.waiting * 100, 0), " %");
  }
  return out.substr(0, static_cast<std::size_t>(std::max(width - 1, 20)));
}

TrainView::TrainView(Console& console) : console_(console) {}

void TrainView::start(
    const train::RunPlan& plan,
    const config::Config& config) {
  epochs_ = static_cast<std::uint32_t>(config.train.epochs);
  console_.print(plan_text(plan, config) + "\n");
}

void TrainView::see(const train::Glimpse& glimpse) {
  const auto now = Clock::now();
  if (glimpse.step <= last_step_ || last_step_ == 0) epoch_begin_ = now;
  last_step_ = glimpse.step;
  const double epoch_s =
      std::chrono::duration<double>(now - epoch_begin_).count();
  if (console_.live()) {
    console_.progress(glimpse_text(glimpse, epoch_s, console_.width()));
    return;
  }
  if (next_plain_ == Clock::time_point()) next_plain_ = now + kPlainEvery;
  if (now < next_plain_) return;
  next_plain_ = now + kPlainEvery;
  console_.log(log::Level::note, glimpse_text(glimpse, epoch_s, 200));
}

void TrainView::see(const journal::Event& event) {
  if (event.kind == "epoch") epoch_line(event);
}

void TrainView::epoch_line(const journal::Event& event) {
  const auto number = [&](const char* name) {
    return event.number(name).value_or(std::nan(""));
  };
  const bool accuracy = event.number("train_accuracy").has_value();
  if (!head_shown_)
    console_.print(
        cat(right("epoch", 7),
            right("loss", 10),
            accuracy ? right("accuracy", 11) : "",
            right("val loss", 10),
            accuracy ? right("val acc", 11) : "",
            right("lr", 11),
            right("samples/s", 11),
            right("wait", 8),
            right("time", 12),
            "\n"));
  head_shown_ = true;
  const double seconds = number("seconds");
  console_.print(
      cat(right(cat(event.count("epoch").value_or(0) + 1, "/", epochs_), 7),
          right(loss_text(number("train_loss")), 10),
          accuracy ? right(percent(number("train_accuracy")), 11) : "",
          right(loss_text(number("val_loss")), 10),
          accuracy ? right(percent(number("val_accuracy")), 11) : "",
          right(rate_text(number("lr")), 11),
          right(decimals(number("samples_per_s"), 0), 11),
          right(cat(decimals(number("wait_s") / seconds * 100, 1), " %"), 8),
          right(seconds_text(seconds), 12),
          event.flag("best").value_or(false) ? "  best" : "",
          "\n"));
}

void TrainView::finish(const train::RunResult& result) {
  const auto& outcome = result.outcome;
  std::string out = "\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    out += cat("  ", left(name, 10), value, "\n");
  };
  const bool stopped = outcome.ending == train::Ending::kStopped;
  row(stopped ? "stopped" : "done",
      cat(count_text(outcome.updates),
          " updates in ",
          seconds_text(outcome.seconds),
          outcome.ending == train::Ending::kEarly
              ? cat("; no better epoch since ", outcome.best_epoch + 1)
              : ""));
  if (!std::isnan(outcome.best))
    row("best",
        cat(outcome.best_metric,
            " ",
            contains(outcome.best_metric, "accuracy") ? percent(outcome.best)
                                                      : loss_text(outcome.best),
            " in epoch ",
            outcome.best_epoch + 1));
  row("time", train::bottleneck(outcome));
  row("run", result.directory.path.string());
  if (stopped)
    row("go on", cat("temper train --resume ", result.directory.name()));
  console_.print(out);
}

} // namespace temper::cli
