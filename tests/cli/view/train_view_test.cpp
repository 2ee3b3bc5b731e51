// What a run shows: the start-up table, the live line, the classes at the end
// and what to try next.
#include "temper/cli/view/train_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "temper/base/text.h"
#include "temper/cli/terminal/figures.h"
#include "temper/cli/view/train_ending.h"

namespace temper::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

train::Glimpse a_glimpse() {
  train::Glimpse glimpse;
  glimpse.epoch = 1;
  glimpse.epochs = 3;
  glimpse.step = 117;
  glimpse.steps = 469;
  glimpse.loss = 0.43214;
  glimpse.accuracy = 0.8512;
  glimpse.lr = 0.003;
  glimpse.samples_per_s = 12345;
  glimpse.waiting = 0.031;
  glimpse.memory_bytes = 123 << 20;
  return glimpse;
}

TEST(LiveLine, HasEverythingThatTellsHowItGoes) {
  EXPECT_THAT(
      glimpse_text(a_glimpse(), 12, "images", 140),
      AllOf(
          HasSubstr("epoch 2/3 [=====                   ] 117/469"),
          HasSubstr("loss 0.4321"),
          HasSubstr("acc 85.12 %"),
          HasSubstr("lr 0.003"),
          HasSubstr("12345 images/s"),
          HasSubstr("12.0 s left"),
          HasSubstr("123 MiB"),
          HasSubstr("waits 3 %")));
}

TEST(LiveLine, OnANarrowTerminalTheBarGoesBeforeTheWords) {
  const std::string line = glimpse_text(a_glimpse(), 12, "images", 105);
  EXPECT_THAT(line, AllOf(Not(HasSubstr("[")), HasSubstr("waits 3 %")));
  for (const int width : {40, 80, 100, 110, 120})
    EXPECT_LT(
        glimpse_text(a_glimpse(), 12, "images", width).size(),
        static_cast<std::size_t>(width));
}

// Cut anywhere else, "12345 images/s" would read as another number.
TEST(LiveLine, LeavesWholeFieldsOutAndCutsNone) {
  const std::string all = glimpse_text(a_glimpse(), 12, "images", 200);
  const std::string fields = all.substr(all.find("117/469"));
  std::set<std::string> known{"epoch 2/3 117/469"};
  for (std::size_t at = 0; at != std::string::npos;) {
    const auto end = fields.find("  ", at);
    known.insert(fields.substr(at, end - at));
    at = end == std::string::npos ? end : end + 2;
  }
  for (int width = 1; width < 130; ++width) {
    const std::string line = glimpse_text(a_glimpse(), 12, "images", width);
    EXPECT_LT(line.size(), static_cast<std::size_t>(std::max(width, 1)))
        << line;
    if (line.empty() || contains(line, "[")) continue;
    for (std::size_t at = 0; at != std::string::npos;) {
      const auto end = line.find("  ", at);
      EXPECT_EQ(known.count(line.substr(at, end - at)), 1U) << line;
      at = end == std::string::npos ? end : end + 2;
    }
  }
  EXPECT_THAT(
      glimpse_text(a_glimpse(), 12, "images", 60),
      AllOf(HasSubstr("loss 0.4321"), HasSubstr("12.0 s left")));
}

TEST(LiveLine, TimeLeftAndSpeedAreOfTheSameSeconds) {
  Pace pace;
  auto now = Pace::Clock::now();
  train::Glimpse glimpse = a_glimpse();
  glimpse.samples = 64;
  glimpse.steps = 900;
  for (glimpse.step = 1; glimpse.step <= 700; ++glimpse.step) {
    // The first step warms up; half way it becomes three times as slow.
    now += std::chrono::milliseconds(glimpse.step > 350 ? 300 : 100);
    const auto reading = pace.see(glimpse, now);
    if (glimpse.step == 1) {
      EXPECT_EQ(reading.samples_per_s, 0);
      EXPECT_TRUE(std::isnan(reading.left_s));
      continue;
    }
    EXPECT_NEAR(
        reading.left_s * reading.samples_per_s,
        static_cast<double>(64 * (glimpse.steps - glimpse.step)),
        1e-3);
  }
  EXPECT_NEAR(pace.see(glimpse, now).left_s, 199 * 0.3, 2);
  glimpse.step = 1; // the next epoch
  EXPECT_TRUE(std::isnan(pace.see(glimpse, now).left_s));
}

TEST(Figures, LargeAndSmallOnesHaveFourDigitsAtMost) {
  EXPECT_EQ(figure_text(0.43214), "0.4321");
  EXPECT_EQ(figure_text(12.34567), "12.3457");
  EXPECT_EQ(figure_text(123.4567), "123.5");
  EXPECT_EQ(figure_text(45678.9), "45679");
  EXPECT_EQ(figure_text(11777662985.1022), "1.178e+10");
  EXPECT_EQ(figure_text(-1e33), "-1e+33");
  EXPECT_EQ(figure_text(0.0000432), "4.3e-05");
  EXPECT_EQ(figure_text(0), "0.0000");
  EXPECT_EQ(figure_text(std::nan("")), "-");
  EXPECT_EQ(figure_text(HUGE_VAL), "inf");
}

TEST(LiveLine, HasHowFarTrackersAreBehindEvenWhenItIsNarrow) {
  EXPECT_EQ(backlog_text({}), "");
  EXPECT_EQ(backlog_text({1240, 0}), "mlflow 1,240 behind");
  const std::string both = backlog_text({7, 2});
  EXPECT_EQ(both, "mlflow 7 behind, tensorboard 2 behind");
  for (const int width : {80, 140})
    EXPECT_THAT(
        glimpse_text(a_glimpse(), 12, "images", width, both), HasSubstr(both));
  EXPECT_THAT(
      glimpse_text(a_glimpse(), 12, "images", 140), Not(HasSubstr("behind")));
}

TEST(LiveLine, SaysNothingThatIsNotKnown) {
  train::Glimpse glimpse = a_glimpse();
  glimpse.steps = 0; // a stream
  glimpse.accuracy = std::nan("");
  glimpse.memory_bytes = 0;
  EXPECT_THAT(
      glimpse_text(glimpse, std::nan(""), "samples", 140),
      AllOf(
          HasSubstr("step 117"),
          Not(HasSubstr("acc")),
          Not(HasSubstr("left")),
          Not(HasSubstr("iB"))));
}

TEST(StartTable, HasModelParametersDataAndDevice) {
  train::RunOverview overview;
  overview.engine.model = "resnet18";
  overview.engine.parameters = 11181642;
  overview.engine.trainable = 5130;
  overview.settings.device = {"mps", "4x faster than the CPU"};
  overview.settings.layout = {"contiguous", "the only one"};
  overview.settings.threads = {"8", "as asked"};
  overview.settings.precision = {"fp32", "as asked"};
  overview.source = "folder:photos";
  overview.train_samples = 900;
  overview.val_samples = 100;
  overview.input_shape = {3, 224, 224};
  overview.classes = {"cat", "dog"};
  EXPECT_THAT(
      start_table(overview, {}),
      AllOf(
          HasSubstr("resnet18, 11,181,642 parameters, 5,130 of them trained"),
          HasSubstr(
              "900 images of 3 x 224 x 224 to train on, 100 to validate, 2 "),
          HasSubstr("learning rate 0.001 cosine"),
          HasSubstr("mps, contiguous, 8 threads, fp32"),
          HasSubstr("device    mps (4x faster than the CPU)")));
}

TEST(StartTable, HasReasonsThatWereMeasuredAndTheOthersAsDetails) {
  train::RunOverview overview;
  overview.settings.device = {"cpu", "nothing else to choose from"};
  overview.settings.threads = {"1", "33.1 ms a step, 2 threads: 405 ms"};
  EXPECT_THAT(
      start_table(overview, {}, 100, false),
      AllOf(
          HasSubstr("threads   1 (33.1 ms a step"),
          Not(HasSubstr("nothing else"))));
  EXPECT_THAT(
      start_table(overview, {}, 100, true),
      HasSubstr("cpu (nothing else to choose from)"));
}

TEST(StartTable, SaysWhoseKernelsComputeAndWhetherBitsDependOnThreads) {
  train::RunOverview overview;
  overview.settings.threads = {"1", "as asked"};
  overview.kernels.fused = "52 of 52 BatchNorm fused";
  overview.kernels.by_threads = {"fc (matmul)"};
  EXPECT_THAT(start_table(overview, {}, 100, false), Not(HasSubstr("bits ")));
  EXPECT_THAT(
      start_table(overview, {}, 100, true),
      AllOf(
          HasSubstr("fused     52 of 52 BatchNorm fused"),
          HasSubstr("bits      depend on threads: fc (matmul) is LibTorch's")));
  overview.kernels.any_threads = true;
  EXPECT_THAT(
      start_table(overview, {}, 100, false),
      HasSubstr("bits      do not depend on threads"));
}

TEST(StartTable, IsWrappedBetweenWordsWithinTheWindow) {
  train::RunOverview overview;
  overview.engine.model = "resnet18";
  overview.settings.threads = {"1", "33.1 ms a step, 2 threads: 405 ms"};
  overview.source = "folder:photos";
  overview.notes = {"a note of more words than a narrow window has room for"};
  for (const int width : {44, 60, 80, 120})
    for (const std::string& line :
         split(start_table(overview, {}, width), '\n'))
      EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
}

TEST(StartTable, OneEpochOfWarmUpIsNoPlural) {
  train::RunOverview overview;
  overview.settings.threads = {"1", "as asked"};
  config::Config config;
  config.schedule.warmup = 1;
  EXPECT_THAT(
      start_table(overview, config), HasSubstr("after 1 epoch of warm-up"));
  config.schedule.warmup = 0.5;
  EXPECT_THAT(
      start_table(overview, config), HasSubstr("after 0.5 epochs of warm-up"));
}

TEST(StartTable, OneIsNoPlural) {
  train::RunOverview overview;
  overview.updates_per_epoch = 1;
  overview.settings.threads = {"1", "as asked"};
  EXPECT_THAT(start_table(overview, {}), HasSubstr(", 1 update an epoch, "));
}

TEST(EndTable, OneIsNoPlural) {
  Console console(Environment{});
  TrainView view(console, {});
  train::RunResult result;
  result.outcome.ending = train::Ending::kStopped;
  result.outcome.updates = 1;
  testing::internal::CaptureStdout();
  view.finish(result);
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      HasSubstr("stopped   1 update in"));
}

TEST(EndTable, OneThatStoppedEarlySaysSinceWhen) {
  Console console(Environment{});
  TrainView view(console, {});
  config::Config config;
  config.train.early_stop = 2;
  testing::internal::CaptureStdout();
  train::RunOverview overview;
  overview.settings.threads = {"1", "as asked"};
  view.start(overview, config);
  train::RunResult result;
  result.outcome.ending = train::Ending::kEarly;
  result.outcome.best_metric = "val_accuracy";
  result.outcome.best_epoch = 2; // a tie, which the loss broke
  result.outcome.improved_epoch = 0;
  view.finish(result);
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      AllOf(
          HasSubstr(
              "stopped early: val_accuracy has not improved since epoch 1"),
          HasSubstr("(early_stop = 2)")));
}

std::string
forecast_line(double measured, double forecast, bool verbose = false) {
  Console console(Environment{});
  console.set_verbose(verbose);
  TrainView view(console, {});
  testing::internal::CaptureStdout();
  view.see(journal::Event{
      "forecast_check",
      0,
      {{"measured_bytes", static_cast<std::int64_t>(measured * (1 << 20))},
       {"forecast_bytes", static_cast<std::int64_t>(forecast * (1 << 20))},
       {"error", (forecast - measured) / measured}}});
  return testing::internal::GetCapturedStdout();
}

TEST(ForecastLine, IsThereOnlyWhenThePeakIsAnother) {
  EXPECT_EQ(forecast_line(100, 104), "");
  EXPECT_EQ(forecast_line(0.3, 0.5), ""); // KiB are nothing to plan with
  EXPECT_EQ(
      forecast_line(100, 104, true),
      "  memory    peak 100 MiB of tensors, as forecast\n");
  EXPECT_EQ(
      forecast_line(2, 25),
      "  memory    peak 2.0 MiB of tensors, forecast 25.0 MiB\n");
}

// Class c is right in `right[c]` of 10, and else taken for the class after it.
train::MetricSums confused(const std::vector<int>& right) {
  train::MetricSums sums;
  sums.classes = static_cast<int>(right.size());
  sums.confusion.resize(right.size() * right.size());
  for (std::size_t c = 0; c < right.size(); ++c) {
    sums.confusion[c * right.size() + c] = right[c];
    sums.confusion[c * right.size() + (c + 1) % right.size()] += 10 - right[c];
    sums.predictions += 10;
    sums.correct += right[c];
  }
  sums.samples = sums.predictions;
  return sums;
}

TEST(ClassTable, ShowsTheWorstFirstAndWhatTheyAreTakenFor) {
  EXPECT_EQ(
      class_table(confused({9, 3, 10}), {"cat", "dog", "owl"}, 10),
      "  class  accuracy  samples  most often taken for\n"
      "  dog      30.0 %       10  owl (70.0 %)\n"
      "  cat      90.0 %       10  dog (10.0 %)\n"
      "  owl     100.0 %       10  -\n");
}

TEST(ClassTable, ShowsAtMostSoMany) {
  const std::string table = class_table(confused({9, 8, 2, 5, 7}), {}, 2);
  EXPECT_THAT(
      table,
      AllOf(
          HasSubstr("class 2"),
          HasSubstr("class 3"),
          Not(HasSubstr("class 4  ")),
          HasSubstr("and 3 classes with 70.0 % or more")));
}

TEST(ClassTable, IsNotThereWithoutClassesAndShortWhenAllIsRight) {
  EXPECT_THAT(class_table({}, {}, 10), IsEmpty());
  EXPECT_EQ(
      class_table(confused({10, 10}), {}, 10),
      "  all 20 validation samples are classified correctly\n");
  train::MetricSums one = confused({5, 10});
  one.confusion[2] = one.confusion[3] = 0; // no sample of the second
  EXPECT_THAT(class_table(one, {}, 10), Not(HasSubstr("nan")));
}

train::RunResult a_result() {
  train::RunResult result;
  result.directory = {"runs/x"};
  result.outcome.best = 0.8;
  result.outcome.best_epoch = 9;
  result.overview.source = "folder:photos";
  result.overview.val_samples = 100;
  result.overview.input_shape = {3, 32, 32};
  return result;
}

TEST(NextSteps, AStoppedRunIsToBeResumed) {
  train::RunResult result = a_result();
  result.outcome.ending = train::Ending::kStopped;
  config::Config config;
  auto advice = next_steps(result, config, "before");
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].first, "temper train --resume x");
  config.run.dir = "elsewhere";
  EXPECT_EQ(
      next_steps(result, config, "")[0].first,
      "temper train --resume x --set run.dir=elsewhere");
}

TEST(NextSteps, ARunThatStillImprovedIsTrainedOnFromItsWeights) {
  config::Config config;
  config.run.name = "x"; // the new one gets a name of its own
  EXPECT_EQ(
      next_steps(a_result(), config, "")[0].first,
      "temper train --from runs/x --epochs 10");
  config.run.dir = "elsewhere";
  EXPECT_EQ(
      next_steps(a_result(), config, "")[0].first,
      "temper train --from runs/x --epochs 10 --set run.dir=elsewhere");
  train::RunResult past = a_result();
  past.outcome.best_epoch = 4;
  EXPECT_THAT(
      advice_text(next_steps(past, {}, "")), Not(HasSubstr("--epochs")));
}

// The same accuracies of `times` as many samples.
train::MetricSums more_of(train::MetricSums sums, std::int64_t times) {
  sums.predictions *= times;
  sums.correct *= times;
  sums.samples *= times;
  return sums;
}

TEST(NextSteps, OneThatOverfitsGetsSomethingAgainstIt) {
  train::RunResult result = a_result();
  result.overview.updates_per_epoch = 10;
  result.outcome.updates = 100;
  result.outcome.train = more_of(confused({10, 10}), 100);
  result.outcome.val = more_of(confused({8, 9}), 10);
  config::Config config;
  EXPECT_EQ(
      next_steps(result, config, "")[0].second,
      "it overfits: 100 % on training data, 85 % on validation data");
  EXPECT_THAT(
      next_steps(result, config, "")[0].first, HasSubstr("data.augment=cifar"));
  config.data.augment = "strong";
  EXPECT_THAT(
      next_steps(result, config, "")[0].first, HasSubstr("weight_decay"));
}

TEST(NextSteps, AGapThatMayBeChanceIsNoOverfitting) {
  train::RunResult result = a_result();
  result.overview.updates_per_epoch = 10;
  result.outcome.updates = 100;
  result.outcome.train = confused({10, 10});
  result.outcome.val = confused({8, 9}); // of 20 samples
  EXPECT_THAT(
      advice_text(next_steps(result, {}, "")), Not(HasSubstr("overfits")));
  result.outcome.train = more_of(confused({10, 10}), 100);
  result.outcome.val = more_of(confused({8, 9}), 100);
  EXPECT_THAT(advice_text(next_steps(result, {}, "")), HasSubstr("overfits"));
  result.outcome.updates = 20; // two epochs: it has hardly begun
  EXPECT_THAT(
      advice_text(next_steps(result, {}, "")), Not(HasSubstr("overfits")));
}

TEST(NextSteps, OneThatDivergedIsToHaveALowerRateAndNotTrainedOn) {
  train::RunResult result = a_result();
  result.overview.classes = {"cat", "dog"};
  result.outcome.train = confused({5, 5});
  result.outcome.train.units = 20;
  result.outcome.train.loss = 20 * 1e6;
  config::Config config;
  config.optimizer.lr = 0.02;
  EXPECT_EQ(
      next_steps(result, config, "")[0].first,
      "temper train runs/x/config.toml --lr 0.002");
  EXPECT_THAT(
      advice_text(next_steps(result, config, "")), Not(HasSubstr("--from")));
  config.optimizer.lr = 1000; // a tenth of it is no better
  EXPECT_THAT(
      next_steps(result, config, "")[0].first, testing::EndsWith("--lr 0.001"));
}

TEST(NextSteps, AtMostThreeWithComparisonAndExport) {
  const auto advice = next_steps(a_result(), {}, "before");
  EXPECT_THAT(advice, SizeIs(3));
  EXPECT_THAT(
      advice_text(advice),
      AllOf(
          HasSubstr("temper runs compare before x\n"),
          HasSubstr("temper export runs/x --to net.pt2\n")));
}

} // namespace
} // namespace temper::cli
