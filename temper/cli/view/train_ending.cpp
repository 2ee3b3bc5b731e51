#include "temper/cli/view/train_ending.h"

#include <algorithm>
#include <cmath>

#include "temper/base/text.h"
#include "temper/cli/terminal/figures.h"
#include "temper/train/run/doubts.h"

namespace temper::cli {
namespace {

constexpr std::size_t kMostAdvice = 3;
// An accuracy in training that is so much better than in validation, after so
// many epochs and by so many standard errors, is no chance.
constexpr double kLargeGap = 0.08;
constexpr std::int64_t kFewEpochs = 3;
constexpr double kSurely = 3;

struct ClassLine {
  std::string name;
  double accuracy = 0;
  std::int64_t samples = 0;
  std::string taken_for; // empty: never for another
};

std::vector<ClassLine> class_lines(
    const train::MetricSums& val,
    const std::vector<std::string>& names) {
  const auto classes = static_cast<std::size_t>(val.classes);
  const auto name_of = [&](std::size_t label) {
    return label < names.size() ? names[label] : cat("class ", label);
  };
  const auto accuracies = train::class_accuracies(val);
  std::vector<ClassLine> lines;
  for (std::size_t truth = 0; truth < classes; ++truth) {
    if (std::isnan(accuracies[truth])) continue; // no sample of it
    const std::int64_t* row = val.confusion.data() + truth * classes;
    ClassLine line{name_of(truth), accuracies[truth], 0, ""};
    std::size_t worst = truth;
    for (std::size_t i = 0; i < classes; ++i) {
      line.samples += row[i];
      if (i != truth && row[i] > (worst == truth ? 0 : row[worst])) worst = i;
    }
    if (worst != truth)
      line.taken_for =
          cat(name_of(worst),
              " (",
              percent_text(
                  static_cast<double>(row[worst]) /
                      static_cast<double>(line.samples),
                  1),
              ")");
    lines.push_back(std::move(line));
  }
  std::stable_sort(
      lines.begin(), lines.end(), [](const auto& one, const auto& other) {
        return one.accuracy < other.accuracy;
      });
  return lines;
}

// The same again with a change; a run's name is given only once.
std::string again(
    const train::RunResult& result,
    const config::Config& config,
    const std::string& change) {
  return cat(
      "temper train ",
      result.directory.config().string(),
      " ",
      change,
      config.run.name.empty() ? ""
                              : cat(" --set run.name=", config.run.name, "-2"));
}

// A new run with its config that begins with its best weights.
std::string onwards(
    const train::RunResult& result,
    const config::Config& config,
    const std::string& change) {
  return cat(
      "temper train --from ",
      result.directory.path.string(),
      " ",
      change,
      config.run.dir == "runs" ? "" : cat(" --set run.dir=", config.run.dir));
}

bool last_was_best(const train::Outcome& outcome, std::int64_t epochs) {
  const bool perfect =
      contains(outcome.best_metric, "accuracy") && outcome.best >= 1;
  return outcome.ending == train::Ending::kDone && !std::isnan(outcome.best) &&
      !perfect && outcome.best_epoch + 1 >= epochs;
}

// The two-proportion test: how many standard errors the accuracies of two sets
// of predictions are apart.
double errors_apart(
    const train::MetricSums& one,
    const train::MetricSums& two) {
  const auto n1 = static_cast<double>(one.predictions);
  const auto n2 = static_cast<double>(two.predictions);
  const double pooled =
      static_cast<double>(one.correct + two.correct) / (n1 + n2);
  const double error = std::sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2));
  return (static_cast<double>(one.correct) / n1 -
          static_cast<double>(two.correct) / n2) /
      error;
}

bool overfits(const train::RunResult& result) {
  const auto& outcome = result.outcome;
  if (outcome.train.predictions == 0 || outcome.val.predictions == 0 ||
      outcome.updates < kFewEpochs * result.overview.updates_per_epoch)
    return false;
  const double gap = train::metric(outcome.train, "accuracy") -
      train::metric(outcome.val, "accuracy");
  return gap > kLargeGap && errors_apart(outcome.train, outcome.val) > kSurely;
}

// "98 %", and "97.3 %" where a percent more would say all of them.
std::string about(double part) {
  const double percents = part * 100;
  return cat(decimals(percents, percents > 99 && percents < 100 ? 1 : 0), " %");
}

// The advice that keeps a network from learning the samples by heart.
std::string against_overfitting(
    const train::RunOverview& overview,
    const config::Config& config) {
  const bool images = overview.input_shape.size() == 3;
  if (images && config.data.augment == "none")
    return overview.input_shape[1] < 96 ? "--set data.augment=cifar"
                                        : "--set data.augment=imagenet";
  if (images && !config.data.augment.has("strong"))
    return "--set data.augment=strong";
  return "--set optimizer.weight_decay=0.1";
}

bool is_a_demonstration(const std::string& source) {
  return !contains(source, ":") || source.starts_with("synthetic:");
}

} // namespace

std::string class_table(
    const train::MetricSums& val,
    const std::vector<std::string>& classes,
    std::size_t most) {
  const auto lines = class_lines(val, classes);
  if (lines.empty()) return "";
  if (lines.front().accuracy >= 1)
    return cat(
        "  all ",
        count_text(val.predictions),
        " validation samples are classified correctly\n");
  const std::size_t shown = std::min(lines.size(), most);
  const bool all = shown == lines.size();
  const std::string title = all ? "class" : "worst classes";
  std::size_t widest = title.size();
  for (std::size_t i = 0; i < shown; ++i)
    widest = std::max(widest, lines[i].name.size());
  std::string out =
      cat("  ",
          padded(title, widest),
          "  accuracy  samples  most often taken for\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const auto right = [](const std::string& text, std::size_t width) {
      return std::string(width > text.size() ? width - text.size() : 0, ' ') +
          text;
    };
    out +=
        cat("  ",
            padded(lines[i].name, widest),
            right(percent_text(lines[i].accuracy, 1), 10),
            right(count_text(lines[i].samples), 9),
            "  ",
            lines[i].taken_for.empty() ? "-" : lines[i].taken_for,
            "\n");
  }
  if (!all)
    out +=
        cat("  and ",
            lines.size() - shown,
            lines.size() - shown == 1 ? " class" : " classes",
            " with ",
            percent_text(lines[shown].accuracy, 1),
            " or more\n");
  return out;
}

Advice next_steps(
    const train::RunResult& result,
    const config::Config& config,
    const std::string& earlier) {
  const auto& outcome = result.outcome;
  const std::string name = result.directory.name();
  const bool elsewhere = config.run.dir != "runs";
  Advice advice;
  if (outcome.ending == train::Ending::kStopped) {
    advice.emplace_back(
        cat("temper train --resume ",
            name,
            elsewhere ? cat(" --set run.dir=", config.run.dir) : ""),
        "goes on where it stopped, to the same result");
    return advice;
  }
  if (const auto rate = train::calmer_rate(
          config, outcome.train, outcome.val, result.overview.classes.size()))
    advice.emplace_back(
        again(result, config, cat("--lr ", rate_text(*rate))),
        "it diverged: a lower learning rate");
  else if (overfits(result))
    advice.emplace_back(
        again(result, config, against_overfitting(result.overview, config)),
        cat("it overfits: ",
            about(train::metric(outcome.train, "accuracy")),
            " on training data, ",
            about(train::metric(outcome.val, "accuracy")),
            " on validation data"));
  else if (
      config.train.max_steps > 0 && outcome.updates >= config.train.max_steps)
    advice.emplace_back(
        again(
            result,
            config,
            cat("--set train.max_steps=", 4 * config.train.max_steps)),
        "it ended at train.max_steps; this trains longer");
  else if (last_was_best(outcome, config.train.epochs))
    advice.emplace_back(
        onwards(result, config, cat("--epochs ", config.train.epochs)),
        "its last epoch was its best: this trains on from its weights, as a "
        "new run");
  if (result.overview.val_samples == 0)
    advice.emplace_back(
        again(result, config, "--set data.val=..."),
        "nothing was validated on: only new data shows how good it is");
  if (!earlier.empty())
    advice.emplace_back(
        cat("temper runs compare ",
            earlier,
            " ",
            name,
            elsewhere ? cat(" --dir ", config.run.dir) : ""),
        "what changed since the run before, and what came of it");
  if (std::filesystem::path(config.model.name).extension() != ".pt")
    advice.emplace_back(
        cat("temper export ", result.directory.path.string(), " --to net.pt2"),
        "the trained model, for Python: torch.export.load");
  if (is_a_demonstration(result.overview.source))
    advice.emplace_back(
        "temper train --data folder:PHOTOS --model net.pt2",
        "your own pictures, your own PyTorch network; both are optional");
  if (advice.size() > kMostAdvice) advice.resize(kMostAdvice);
  return advice;
}

std::string advice_text(const Advice& advice, int width) {
  constexpr std::size_t kIndent = 6;
  if (advice.empty()) return "";
  std::string out = "\n  what to try next\n";
  const std::string gap(kIndent, ' ');
  for (const auto& [command, why] : advice) // commands are for copying: whole
    out +=
        cat("    ",
            command,
            "\n",
            gap,
            join(
                wrap(why, static_cast<std::size_t>(width) - kIndent),
                cat("\n", gap)),
            "\n");
  return out;
}

} // namespace temper::cli
