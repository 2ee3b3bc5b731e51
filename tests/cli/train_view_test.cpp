// What a run shows: the start-up table, the live line, the classes at the end
// and what to try next.
#include "temper/cli/train_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/base/text.h"
#include "temper/cli/train_ending.h"

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

TEST(LiveLine, has_everything_that_tells_how_it_goes) {
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

TEST(LiveLine, on_a_narrow_terminal_the_bar_goes_before_the_words) {
  const std::string line = glimpse_text(a_glimpse(), 12, "images", 105);
  EXPECT_THAT(line, AllOf(Not(HasSubstr("[")), HasSubstr("waits 3 %")));
  for (const int width : {40, 80, 100, 110, 120})
    EXPECT_LT(
        glimpse_text(a_glimpse(), 12, "images", width).size(),
        static_cast<std::size_t>(width));
}

TEST(LiveLine, has_how_far_trackers_are_behind_even_when_it_is_narrow) {
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

TEST(LiveLine, says_nothing_that_is_not_known) {
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

TEST(StartTable, has_model_parameters_data_and_device) {
  train::RunPlan plan;
  plan.engine.model = "resnet18";
  plan.engine.parameters = 11181642;
  plan.engine.trainable = 5130;
  plan.settings.device = {"mps", "4x faster than the CPU"};
  plan.settings.layout = {"contiguous", "the only one"};
  plan.settings.threads = {"8", "as asked"};
  plan.settings.precision = {"fp32", "as asked"};
  plan.source = "folder:photos";
  plan.train_samples = 900;
  plan.val_samples = 100;
  plan.input_shape = {3, 224, 224};
  plan.classes = {"cat", "dog"};
  EXPECT_THAT(
      plan_text(plan, {}),
      AllOf(
          HasSubstr("resnet18, 11,181,642 parameters, 5,130 of them trained"),
          HasSubstr("900 images to train on, 100 to validate, 2 classes"),
          HasSubstr("3 x 224 x 224"),
          HasSubstr("mps, contiguous, 8 threads, fp32"),
          HasSubstr("mps: 4x faster than the CPU")));
}

TEST(StartTable, one_is_no_plural) {
  train::RunPlan plan;
  plan.updates_per_epoch = 1;
  plan.settings.threads = {"1", "as asked"};
  EXPECT_THAT(plan_text(plan, {}), HasSubstr(", 1 update an epoch, "));
}

TEST(EndTable, one_is_no_plural) {
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

TEST(ClassTable, shows_the_worst_first_and_what_they_are_taken_for) {
  EXPECT_EQ(
      class_table(confused({9, 3, 10}), {"cat", "dog", "owl"}, 10),
      "  class  accuracy  samples  most often taken for\n"
      "  dog      30.0 %       10  owl (70.0 %)\n"
      "  cat      90.0 %       10  dog (10.0 %)\n"
      "  owl     100.0 %       10  -\n");
}

TEST(ClassTable, shows_at_most_so_many) {
  const std::string table = class_table(confused({9, 8, 2, 5, 7}), {}, 2);
  EXPECT_THAT(
      table,
      AllOf(
          HasSubstr("class 2"),
          HasSubstr("class 3"),
          Not(HasSubstr("class 4  ")),
          HasSubstr("and 3 classes with 70.0 % or more")));
}

TEST(ClassTable, is_not_there_without_classes_and_short_when_all_is_right) {
  EXPECT_THAT(class_table({}, {}, 10), IsEmpty());
  EXPECT_THAT(
      class_table(confused({10, 10}), {}, 10), HasSubstr("without a mistake"));
  train::MetricSums one = confused({5, 10});
  one.confusion[2] = one.confusion[3] = 0; // no sample of the second
  EXPECT_THAT(class_table(one, {}, 10), Not(HasSubstr("nan")));
}

train::RunResult a_result() {
  train::RunResult result;
  result.directory = {"runs/x"};
  result.outcome.best = 0.8;
  result.outcome.best_epoch = 9;
  result.plan.source = "folder:photos";
  result.plan.val_samples = 100;
  result.plan.input_shape = {3, 32, 32};
  return result;
}

TEST(NextSteps, a_stopped_run_is_to_be_resumed) {
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

TEST(NextSteps, a_run_that_still_improved_is_to_be_longer) {
  config::Config config;
  EXPECT_EQ(
      next_steps(a_result(), config, "")[0].first,
      "temper train runs/x/config.toml --epochs 20");
  config.run.name = "x";
  EXPECT_THAT(
      next_steps(a_result(), config, "")[0].first,
      HasSubstr("--set run.name=x-2"));
  train::RunResult past = a_result();
  past.outcome.best_epoch = 4;
  EXPECT_THAT(
      advice_text(next_steps(past, {}, "")), Not(HasSubstr("--epochs")));
}

TEST(NextSteps, one_that_learns_by_heart_gets_something_against_it) {
  train::RunResult result = a_result();
  result.outcome.train = confused({10, 10});
  result.outcome.val = confused({8, 9});
  config::Config config;
  EXPECT_THAT(
      next_steps(result, config, "")[0].first, HasSubstr("data.augment=cifar"));
  config.data.augment = "strong";
  EXPECT_THAT(
      next_steps(result, config, "")[0].first, HasSubstr("weight_decay"));
}

TEST(NextSteps, at_most_three_with_comparison_and_export) {
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
