#include "temper/cli/train_view.h"

#include <algorithm>
#include <cmath>

#include "temper/base/text.h"
#include "temper/cli/train_ending.h"

namespace temper::cli {
namespace {

constexpr auto kPlainEvery = std::chrono::seconds(10);
// A terminal that is written to more often only flickers.
constexpr auto kLiveEvery = std::chrono::milliseconds(100);
constexpr std::size_t kMostClasses = 10;

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

// Within `room` columns; none when that is too narrow to be one.
std::string bar(double part, std::size_t room) {
  constexpr std::size_t kNarrowest = 6;
  constexpr std::size_t kWidest = 24;
  if (room < kNarrowest + 3) return "";
  const std::size_t width = std::min(room - 3, kWidest);
  const auto full = static_cast<std::size_t>(
      std::clamp(part, 0.0, 1.0) * static_cast<double>(width));
  return cat("[", std::string(full, '='), std::string(width - full, ' '), "] ");
}

// The youngest beside it that is older; empty: it is the first.
std::string run_before(const journal::RunDirectory& directory) {
  std::string before;
  for (const auto& run : journal::list_runs(directory.path.parent_path())) {
    if (run.name() == directory.name()) return before;
    before = run.name();
  }
  return "";
}

std::string noun_for(const train::RunPlan& plan) {
  return plan.input_shape.size() == 3 ? "images" : "samples";
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
              ? ", all trained"
              : cat(", ", count_text(engine.trainable), " of them trained")));
  const std::string noun = noun_for(plan);
  row("data",
      cat(plan.source,
          ": ",
          plan.train_samples > 0
              ? cat(count_text(plan.train_samples), " ", noun, " to train on")
              : cat("a stream of ", noun),
          plan.val_samples > 0
              ? cat(", ", count_text(plan.val_samples), " to validate")
              : ", nothing to validate on",
          plan.classes.empty() ? ""
                               : cat(", ", plan.classes.size(), " classes")));
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
          plan.updates_per_epoch > 0
              ? cat(", ",
                    plural(plan.updates_per_epoch, "update"),
                    " an epoch, ",
                    plural(config.train.epochs, "epoch"))
              : ""));
  row("plan",
      cat(plan::to_text(plan.settings.setting()),
          plan.settings.remembered ? " (as measured before)" : ""));
  for (const plan::Choice* choice :
       {&plan.settings.device,
        &plan.settings.layout,
        &plan.settings.threads,
        &plan.settings.precision})
    row("", cat(choice->value, ": ", choice->reason));
  const memory::Forecast& forecast = plan.forecast;
  if (forecast.peak_bytes > 0)
    row("memory",
        cat(bytes_text(forecast.peak_bytes),
            " of tensors at most",
            forecast.budget.bytes > 0
                ? cat(", of ", bytes_text(forecast.budget.bytes))
                : "",
            "; ",
            forecast.at_once,
            " of ",
            plural(forecast.batch, "sample"),
            " at once"));
  if (forecast.at_once > 0 && forecast.at_once < forecast.batch &&
      engine.batch_norms > 0 && config.model.bn_group <= 1)
    row("", memory::batch_norm_note());
  for (const std::string& note : plan.notes)
    row("note", note);
  return out;
}

std::string glimpse_text(
    const train::Glimpse& glimpse,
    double left_s,
    const std::string& noun,
    int width,
    const std::string& behind) {
  const std::string head =
      cat("epoch ", glimpse.epoch + 1, "/", glimpse.epochs, " ");
  std::string words = glimpse.steps > 0 ? cat(glimpse.step, "/", glimpse.steps)
                                        : cat("step ", glimpse.step);
  if (!behind.empty()) words += cat("  ", behind);
  if (glimpse.validating) {
    words += "  validating";
  } else {
    words += cat("  loss ", loss_text(glimpse.loss));
    if (!std::isnan(glimpse.accuracy))
      words += cat("  acc ", percent(glimpse.accuracy));
    words += cat("  lr ", rate_text(glimpse.lr));
    if (glimpse.samples_per_s > 0)
      words += cat("  ", decimals(glimpse.samples_per_s, 0), " ", noun, "/s");
    if (!std::isnan(left_s)) words += cat("  ", seconds_text(left_s), " left");
    if (glimpse.memory_bytes > 0)
      words += cat("  ", bytes_text(glimpse.memory_bytes));
    words += cat("  waits ", decimals(glimpse.waiting * 100, 0), " %");
  }
  const auto columns = static_cast<std::size_t>(std::max(width - 1, 20));
  const std::size_t taken = head.size() + words.size();
  const std::string drawn = glimpse.steps > 0 && taken < columns
      ? bar(static_cast<double>(glimpse.step) /
                static_cast<double>(glimpse.steps),
            columns - taken)
      : "";
  return cat(head, drawn, words).substr(0, columns);
}

TrainView::TrainView(Console& console, std::function<Backlog()> backlog)
    : console_(console), backlog_(std::move(backlog)) {}

void TrainView::start(
    const train::RunPlan& plan,
    const config::Config& config) {
  config_ = config;
  noun_ = noun_for(plan);
  validates_ = plan.val_samples > 0;
  if (console_.quiet()) return;
  std::string text = plan_text(plan, config);
  if (resumed_update_)
    text +=
        cat("  goes on   after update ", count_text(*resumed_update_), "\n");
  console_.print(text + "\n");
}

// Of this pass over the data, from what was seen of it: a resumed run begins
// in its middle.
double TrainView::seconds_left(
    const train::Glimpse& glimpse,
    Clock::time_point now) {
  if (pass_begin_ == Clock::time_point() || glimpse.step <= last_step_ ||
      glimpse.validating != was_validating_) {
    pass_begin_ = now;
    pass_first_ = glimpse.step;
  }
  last_step_ = glimpse.step;
  was_validating_ = glimpse.validating;
  const std::int64_t seen = glimpse.step - pass_first_;
  if (seen == 0 || glimpse.steps == 0) return std::nan("");
  return std::chrono::duration<double>(now - pass_begin_).count() /
      static_cast<double>(seen) *
      static_cast<double>(glimpse.steps - glimpse.step);
}

void TrainView::see(const train::Glimpse& glimpse) {
  const auto now = Clock::now();
  const double left_s = seconds_left(glimpse, now);
  if (!console_.live() && next_shown_ == Clock::time_point())
    next_shown_ = now + kPlainEvery;
  if (now < next_shown_) return;
  const std::string behind = backlog_ ? backlog_text(backlog_()) : "";
  if (console_.live()) {
    next_shown_ = now + kLiveEvery;
    console_.progress(
        glimpse_text(glimpse, left_s, noun_, console_.width(), behind));
  } else {
    next_shown_ = now + kPlainEvery;
    console_.log(
        log::Level::note, glimpse_text(glimpse, left_s, noun_, 200, behind));
  }
}

void TrainView::see(const journal::Event& event) {
  if (event.kind == "resume") resumed_update_ = event.count("update");
  if (console_.quiet()) return;
  if (event.kind == "epoch") epoch_line(event);
  if (event.kind == "forecast_check") forecast_line(event);
  if (const std::string note = notes_.see(event); !note.empty())
    console_.log(
        is_good_news(event) ? log::Level::note : log::Level::warning, note);
}

void TrainView::forecast_line(const journal::Event& event) {
  const auto bytes = [&](const char* name) {
    return bytes_text(
        static_cast<std::uint64_t>(event.count(name).value_or(0)));
  };
  console_.print(
      cat("  memory    ",
          bytes("measured_bytes"),
          " of tensors at most, forecast ",
          bytes("forecast_bytes"),
          " (",
          decimals(100 * event.number("error").value_or(0), 1),
          " % off)\n"));
}

void TrainView::epoch_line(const journal::Event& event) {
  const auto number = [&](const char* name) {
    return event.number(name).value_or(std::nan(""));
  };
  const bool accuracy = event.number("train_accuracy").has_value();
  const bool fit = event.number("train_r2").has_value();
  std::string head = right("epoch", 7);
  std::string line = right(
      cat(event.count("epoch").value_or(0) + 1, "/", config_.train.epochs), 7);
  const auto cell = [&](const char* name, int width, const std::string& text) {
    head += right(name, static_cast<std::size_t>(width));
    line += right(text, static_cast<std::size_t>(width));
  };
  const double seconds = number("seconds");
  cell("loss", 10, loss_text(number("train_loss")));
  if (accuracy) cell("accuracy", 11, percent(number("train_accuracy")));
  if (fit) cell("r2", 9, loss_text(number("train_r2")));
  if (validates_) {
    cell("val loss", 10, loss_text(number("val_loss")));
    if (accuracy) cell("val acc", 11, percent(number("val_accuracy")));
    if (fit) cell("val r2", 9, loss_text(number("val_r2")));
  }
  cell("lr", 11, rate_text(number("lr")));
  cell(cat(noun_, "/s").c_str(), 11, decimals(number("samples_per_s"), 0));
  cell("waits", 8, cat(decimals(number("wait_s") / seconds * 100, 1), " %"));
  cell("time", 12, seconds_text(seconds));
  if (!head_shown_) console_.print(head + "\n");
  head_shown_ = true;
  const bool best = event.flag("best").value_or(false);
  console_.print(cat(line, best ? "  best" : "", "\n"));
}

void TrainView::finish(const train::RunResult& result) {
  const auto& outcome = result.outcome;
  std::string out;
  if (!console_.quiet()) {
    const std::string classes =
        class_table(outcome.val, result.plan.classes, kMostClasses);
    out = classes.empty() ? "\n" : cat("\n", classes, "\n");
  }
  const auto row = [&](const std::string& name, const std::string& value) {
    out += cat("  ", left(name, 10), value, "\n");
  };
  const bool stopped = outcome.ending == train::Ending::kStopped;
  row(stopped ? "stopped" : "done",
      cat(plural(outcome.updates, "update"),
          " in ",
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
  if (!console_.quiet())
    out +=
        advice_text(next_steps(result, config_, run_before(result.directory)));
  console_.print(out);
}

} // namespace temper::cli
