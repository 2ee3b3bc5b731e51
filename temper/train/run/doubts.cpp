#include "temper/train/run/doubts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "temper/base/text.h"

namespace temper::train {
namespace {

// Beyond these rates an optimizer has nothing to do with learning any more.
struct Rates {
  const char* optimizer;
  double most;
  double usual;
};
constexpr Rates kRates[] = {
    {"sgd", 10, 0.1},
    {"adam", 0.3, 0.001},
    {"adamw", 0.3, 0.001},
    {"lion", 0.1, 0.0001},
};
constexpr double kLeastRate = 1e-8;

// Fewer validated samples tell nothing about a model.
constexpr std::int64_t kFewSamples = 30;

// 0.000123, 1.2e+09
std::string significant(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

std::optional<std::string> diverged(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums& val,
    std::size_t classes) {
  if (train.units <= 0) return std::nullopt;
  const double loss = metric(train, "loss");
  const std::string remedy =
      cat("Lower optimizer.lr (now ",
          significant(config.optimizer.lr, 3),
          "), or set train.clip = 1.");
  if (!std::isfinite(loss))
    return cat("the loss is no number any more: the run diverged. ", remedy);
  if (train.predictions > 0) {
    // A guess among so many costs ln(classes); a vocabulary has no names here.
    constexpr double kManyClasses = 1e5;
    const double guess =
        std::log(classes > 1 ? static_cast<double>(classes) : kManyClasses);
    if (loss <= 2 * guess + 1) return std::nullopt;
    return cat(
        "the training loss ended at ",
        significant(loss, 4),
        ", far above that of a guess (",
        significant(guess, 3),
        "): the run diverged. ",
        remedy);
  }
  const double r2 = metric(train, "r2");
  if (std::isnan(r2) || r2 >= -1) return std::nullopt;
  // The first steps of a short epoch weigh much; validation comes behind them.
  if (val.units > 0 && metric(val, "r2") >= -1) return std::nullopt;
  return cat(
      "the predictions are far worse than the mean of the targets (R2 ",
      significant(r2, 3),
      " on training data): the run diverged or has not begun to learn. ",
      remedy);
}

struct Guesses {
  std::int64_t samples = 0;
  std::int64_t most_frequent = 0; // samples of that class
  int truths = 0; // classes that occur
  std::vector<std::size_t> predicted; // classes that are ever predicted
};

Guesses guesses_in(const MetricSums& val) {
  Guesses made;
  const auto classes = static_cast<std::size_t>(val.classes);
  std::vector<std::int64_t> columns(classes, 0);
  for (std::size_t truth = 0; truth < classes; ++truth) {
    std::int64_t row = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      row += val.confusion[truth * classes + i];
      columns[i] += val.confusion[truth * classes + i];
    }
    made.samples += row;
    made.truths += row > 0 ? 1 : 0;
    made.most_frequent = std::max(made.most_frequent, row);
  }
  for (std::size_t i = 0; i < classes; ++i)
    if (columns[i] > 0) made.predicted.push_back(i);
  return made;
}

std::optional<std::string> at_chance(
    const MetricSums& val,
    const std::vector<std::string>& classes) {
  if (val.confusion.empty()) return std::nullopt;
  const Guesses guesses = guesses_in(val);
  if (guesses.samples < kFewSamples || guesses.truths < 2) return std::nullopt;
  if (guesses.predicted.size() == 1) {
    const std::size_t only = guesses.predicted[0];
    return cat(
        "all ",
        count_text(guesses.samples),
        " validation samples are taken for ",
        only < classes.size() ? classes[only] : cat("class ", only),
        ": the model has not learnt to tell the classes apart.");
  }
  const auto samples = static_cast<double>(guesses.samples);
  const double frequent = static_cast<double>(guesses.most_frequent) / samples;
  const double accuracy = metric(val, "accuracy");
  // Chance alone brings that much.
  const double spread = std::sqrt(frequent * (1 - frequent) / samples);
  if (!(accuracy <= frequent + spread)) return std::nullopt;
  return cat(
      "the validation accuracy, ",
      percent_text(accuracy, 1),
      accuracy <= frequent ? ", is no better than" : ", is hardly better than",
      " always naming the most frequent class (",
      percent_text(frequent, 1),
      "): the model is at chance level.");
}

} // namespace

std::vector<std::string> doubts_before(const config::Config& config) {
  std::vector<std::string> doubts;
  const double lr = config.optimizer.lr;
  for (const Rates& each : kRates)
    if (config.optimizer.name == each.optimizer && lr > each.most)
      doubts.push_back(
          cat("optimizer.lr = ",
              significant(lr, 3),
              " is far too much for ",
              each.optimizer,
              ", whose usual rate is ",
              significant(each.usual, 3),
              ": the loss will most likely diverge"));
  if (lr < kLeastRate)
    doubts.push_back(
        cat("optimizer.lr = ",
            significant(lr, 3),
            " is so small that nothing will be learnt"));
  return doubts;
}

std::vector<std::string> doubts_after(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums& val,
    const std::vector<std::string>& classes) {
  std::vector<std::string> doubts;
  if (auto doubt = diverged(config, train, val, classes.size()))
    doubts.push_back(*std::move(doubt));
  if (auto doubt = at_chance(val, classes)) doubts.push_back(*std::move(doubt));
  return doubts;
}

std::optional<double> calmer_rate(
    const config::Config& config,
    const MetricSums& train,
    const MetricSums& val,
    std::size_t classes) {
  if (!diverged(config, train, val, classes)) return std::nullopt;
  for (const Rates& each : kRates)
    if (config.optimizer.name == each.optimizer &&
        config.optimizer.lr > each.most)
      return each.usual;
  return config.optimizer.lr / 10;
}

} // namespace temper::train
