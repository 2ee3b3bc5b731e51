#include "temper/cli/view/train_view.h"

#include <algorithm>
#include <cmath>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/cli/terminal/figures.h"
#include "temper/cli/view/train_ending.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/run_summary.h"

namespace temper::cli {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;

constexpr auto kPlainEvery = std::chrono::seconds(10);
// A terminal that is written to more often only flickers.
constexpr auto kLiveEvery = std::chrono::milliseconds(100);
constexpr std::size_t kMostClasses = 10;

std::string right(const std::string& text, std::size_t width) {
  return cat(
      text.size() >= width ? " " : std::string(width - text.size(), ' '), text);
}

// Its data.source, as config.toml has it.
std::string source_of(const journal::RunDirectory& directory) {
  const auto keys =
      journal::config_keys(read_small_file(directory.config()).value_or(""));
  const auto found = keys.find("data.source");
  return found == keys.end() ? "" : found->second;
}

// Name of the youngest older run beside it that trained on the same data: only
// such a one can be compared. Empty if there is none among the last few.
std::string run_before(const journal::RunDirectory& directory) {
  constexpr int kMost = 20;
  const auto runs = journal::list_runs(directory.path.parent_path());
  auto at = std::find_if(runs.rbegin(), runs.rend(), [&](const auto& run) {
    return run.name() == directory.name();
  });
  const std::string source = source_of(directory);
  if (at == runs.rend()) return "";
  ++at;
  for (int i = 0; i < kMost && at != runs.rend(); ++i, ++at)
    if (source_of(*at) == source) return at->name();
  return "";
}

// A column of the epochs' table.
struct Cell {
  std::string name;
  std::size_t width = 0;
  std::string text;
  int weight = 0; // the smallest goes first where the window is narrow
};

std::vector<Cell> within(std::vector<Cell> cells, std::size_t width) {
  const auto taken = [&] {
    std::size_t sum = 0;
    for (const Cell& cell : cells)
      sum += cell.width;
    return sum;
  };
  while (cells.size() > 2 && taken() > width)
    cells.erase(std::min_element(
        cells.begin(), cells.end(), [](const auto& a, const auto& b) {
          return a.weight < b.weight;
        }));
  return cells;
}

std::string row_of(const std::vector<Cell>& cells, std::string Cell::*what) {
  std::string row;
  for (const Cell& cell : cells)
    row += right(cell.*what, cell.width);
  return row;
}

std::string ending_text(
    const train::Outcome& outcome,
    const config::Config& config) {
  const std::string done = cat(
      plural(outcome.updates, "update"), " in ", seconds_text(outcome.seconds));
  if (outcome.ending != train::Ending::kEarly) return done;
  return cat(
      done,
      "; stopped early: ",
      outcome.best_metric,
      " has not improved since epoch ",
      outcome.improved_epoch + 1,
      " (early_stop = ",
      config.train.early_stop,
      ")");
}

// "  test      accuracy 93.10 %, loss 0.2104 on 500 samples, with the weights
// of epoch 7"
std::string test_text(const journal::Event& event) {
  std::vector<std::string> shown;
  for (const char* name :
       {"accuracy", "top5", "r2", "mae", "rmse", "perplexity", "loss"}) {
    const auto value = event.number(cat("test_", name));
    if (!value) continue;
    const std::string word(name);
    shown.push_back(
        cat(word,
            " ",
            word == "accuracy" || word == "top5" ? percent_text(*value, 2)
                                                 : figure_text(*value)));
  }
  const auto epoch = event.count(fields::kEpoch);
  return cat(
      "\n  test      ",
      join(shown, ", "),
      " on ",
      plural(event.count(fields::kSamples).value_or(0), "sample"),
      epoch ? cat(", with the weights of epoch ", *epoch + 1)
            : ", with the last weights",
      "\n");
}

} // namespace

TrainView::TrainView(
    Console& console,
    std::function<session::Backlog()> backlog)
    : console_(console), backlog_(std::move(backlog)) {}

void TrainView::start(
    const train::RunOverview& overview,
    const config::Config& config) {
  config_ = config;
  noun_ = noun_for(overview);
  validates_ = overview.val_samples > 0;
  if (console_.quiet()) return;
  const int width = console_.width();
  std::string text = start_table(overview, config, width, console_.verbose());
  if (resumed_update_)
    text += named_row(
        "resumed", cat("at update ", count_text(*resumed_update_)), width);
  console_.print(text + "\n");
}

void TrainView::see(const train::Glimpse& glimpse) {
  const auto now = Pace::Clock::now();
  const Pace::Reading pace = pace_.see(glimpse, now);
  if (!console_.live() && next_shown_ == Pace::Clock::time_point())
    next_shown_ = now + kPlainEvery;
  if (now < next_shown_) return;
  train::Glimpse shown = glimpse;
  shown.samples_per_s = pace.samples_per_s;
  const std::string behind = backlog_ ? backlog_text(backlog_()) : "";
  const auto line = [&](int width) {
    return glimpse_text(shown, pace.left_s, noun_, width, behind);
  };
  if (console_.live()) {
    next_shown_ = now + kLiveEvery;
    console_.progress(line(console_.line_width()));
  } else {
    constexpr int kAnyWidth = 200;
    next_shown_ = now + kPlainEvery;
    console_.log(log::Level::note, line(kAnyWidth));
  }
}

void TrainView::see(const journal::Event& event) {
  if (event.kind == kinds::kResume)
    resumed_update_ = event.count(fields::kUpdate);
  if (console_.quiet()) return;
  if (event.kind == kinds::kEpoch) epoch_line(event);
  if (event.kind == kinds::kTest) console_.print(test_text(event));
  if (event.kind == kinds::kForecastCheck) forecast_line(event);
  if (const std::string note = notes_.see(event); !note.empty())
    console_.log(
        is_good_news(event) ? log::Level::note : log::Level::warning, note);
}

void TrainView::forecast_line(const journal::Event& event) {
  constexpr double kAsForecast = 0.05;
  constexpr double kNobodyMinds = 1 << 20; // bytes
  const auto bytes = [&](const char* name) {
    return bytes_text(
        static_cast<std::uint64_t>(event.count(name).value_or(0)));
  };
  const double error = event.number(fields::kError).value_or(0);
  const double off = event.number("forecast_bytes").value_or(0) -
      event.number("measured_bytes").value_or(0);
  const bool as_forecast =
      std::fabs(error) < kAsForecast || std::fabs(off) < kNobodyMinds;
  if (as_forecast && !console_.verbose()) return; // the start table has it
  console_.print(named_row(
      "memory",
      cat("peak ",
          bytes("measured_bytes"),
          " of tensors, ",
          as_forecast ? "as forecast"
                      : cat("forecast ", bytes("forecast_bytes"))),
      console_.width()));
}

void TrainView::epoch_line(const journal::Event& event) {
  const auto number = [&](const char* name) {
    return event.number(name).value_or(std::nan(""));
  };
  const bool accuracy = event.number(fields::kTrainAccuracy).has_value();
  const bool fit = event.number(fields::kTrainR2).has_value();
  std::vector<Cell> cells{
      {"epoch",
       7,
       cat(event.count(fields::kEpoch).value_or(0) + 1,
           "/",
           config_.train.epochs),
       10}};
  const auto add = [&](const char* name,
                       std::size_t width,
                       const std::string& text,
                       int weight) {
    cells.push_back({name, width, text, weight});
  };
  const double seconds = number("seconds");
  add("loss", 10, figure_text(number("train_loss")), 8);
  if (accuracy)
    add("accuracy", 10, percent_text(number("train_accuracy"), 2), 6);
  if (fit) add("r2", 9, figure_text(number("train_r2")), 6);
  if (validates_) {
    add("val loss", 10, figure_text(number("val_loss")), 7);
    if (accuracy)
      add("val acc", 10, percent_text(number("val_accuracy"), 2), 9);
    if (fit) add("val r2", 9, figure_text(number("val_r2")), 9);
  }
  add("lr", 10, rate_text(number("lr")), 2);
  add(cat(noun_, "/s").c_str(), 11, decimals(number("samples_per_s"), 0), 3);
  add("waits",
      8,
      seconds > 0 ? cat(decimals(number("wait_s") / seconds * 100, 1), " %")
                  : "-",
      1);
  add("time", 12, seconds_text(seconds), 4);
  const std::string best = "  best";
  const auto width = static_cast<std::size_t>(console_.width());
  cells = within(std::move(cells), width - best.size());
  const std::string head = row_of(cells, &Cell::name);
  if (head != head_shown_) console_.print(head + "\n");
  head_shown_ = head;
  console_.print(
      cat(row_of(cells, &Cell::text),
          event.flag(fields::kBest).value_or(false) ? best : "",
          "\n"));
}

void TrainView::finish(const train::RunResult& result) {
  const auto& outcome = result.outcome;
  std::string out;
  if (!console_.quiet()) {
    const std::string classes =
        class_table(outcome.val, result.overview.classes, kMostClasses);
    out = classes.empty() ? "\n" : cat("\n", classes, "\n");
  }
  const auto row = [&](const std::string& name, const std::string& value) {
    out += named_row(name, value, console_.width());
  };
  const bool stopped = outcome.ending == train::Ending::kStopped;
  row(stopped ? "stopped" : "done", ending_text(outcome, config_));
  if (!std::isnan(outcome.best))
    row("best",
        cat(outcome.best_metric,
            " ",
            contains(outcome.best_metric, "accuracy")
                ? percent_text(outcome.best, 2)
                : figure_text(outcome.best),
            " in epoch ",
            outcome.best_epoch + 1));
  row("time", train::bottleneck(outcome, result.overview));
  row("run", result.directory.path.string());
  if (!console_.quiet())
    out += advice_text(
        next_steps(result, config_, run_before(result.directory)),
        console_.width());
  console_.print(out);
}

} // namespace temper::cli
