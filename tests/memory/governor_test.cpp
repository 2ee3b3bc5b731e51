#include "temper/memory/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sizes.h"
#include "temper/base/error.h"

namespace temper::memory {
namespace {

using testing::HasSubstr;
using testing::Not;

MemorySample calm() {
  MemorySample sample;
  sample.peak_bytes = 100 * kMiB;
  sample.budget_bytes = 1000 * kMiB;
  sample.available_bytes = 1000 * kMiB;
  sample.pressure = machine::Pressure::normal;
  return sample;
}

MemorySample pressed() {
  MemorySample sample = calm();
  sample.pressure = machine::Pressure::critical;
  return sample;
}

// Two errors in a step: the first is answered by trying again.
std::optional<Change> fail(Governor& governor, int samples = 0) {
  const auto again = governor.out_of_memory(samples);
  EXPECT_TRUE(again && again->again());
  return governor.out_of_memory(samples);
}

std::optional<Change> after_calm(Governor& governor, int steps) {
  for (int i = 0; i < steps; ++i)
    if (auto change = governor.see(calm())) return change;
  return {};
}

TEST(Governor, SizesAreHalvesOfTheBatch) {
  EXPECT_EQ(
      micro_batch_sizes(batch_of(64)),
      (std::vector<int>{64, 32, 16, 8, 4, 2, 1}));
  EXPECT_EQ(
      micro_batch_sizes(batch_of(37)),
      (std::vector<int>{37, 19, 10, 5, 3, 2, 1}));
}

TEST(Governor, BatchNormIsNotLeftWithOneSample) {
  GovernorOptions options = batch_of(8);
  options.batch_norm = true;
  EXPECT_EQ(micro_batch_sizes(options), (std::vector<int>{8, 4, 2}));
}

TEST(Governor, SizesAreMultiplesOfTheGroup) {
  GovernorOptions options = batch_of(37);
  options.group = 8;
  EXPECT_EQ(micro_batch_sizes(options), (std::vector<int>{37, 24, 16, 8}));
  options.most = 20;
  EXPECT_EQ(micro_batch_sizes(options), (std::vector<int>{24, 16, 8}));
}

TEST(Governor, StartsWithTheWholeBatch) {
  EXPECT_EQ(Governor(batch_of(64)).micro_batch(), 0);
}

TEST(Governor, StartsWithTheLargestSizeThatTheForecastAllows) {
  GovernorOptions options = batch_of(64);
  options.start = 20;
  EXPECT_EQ(Governor(options).micro_batch(), 16);
}

TEST(Governor, ABatchThatAccumulatesIsNeverComputedAtOnce) {
  GovernorOptions options = batch_of(64);
  options.most = 16;
  Governor governor(options);
  EXPECT_EQ(governor.micro_batch(), 16);
  EXPECT_FALSE(after_calm(governor, 500));
}

TEST(Governor, OneErrorIsAnsweredByTheSameSizeAgain) {
  Governor governor(batch_of(64));
  const auto change = governor.out_of_memory();
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->again());
  EXPECT_EQ(governor.micro_batch(), 0);
  governor.see(calm());
  EXPECT_TRUE(governor.out_of_memory()->again()); // another step
}

TEST(Governor, TheSecondErrorOfAStepHalves) {
  Governor governor(batch_of(64));
  const auto change = fail(governor);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->from, 64);
  EXPECT_EQ(change->to, 32);
  EXPECT_EQ(change->cause, Cause::out_of_memory);
  EXPECT_THAT(change->why, HasSubstr("32 instead of 64 samples"));
  EXPECT_THAT(change->why, HasSubstr("still of 64"));
  EXPECT_EQ(governor.micro_batch(), 32);
}

TEST(Governor, AShortBatchIsHalvedFromItsOwnSize) {
  Governor governor(batch_of(64));
  EXPECT_EQ(fail(governor, 10)->to, 8);
}

TEST(Governor, EndsWhenOneSampleDoesNotFit) {
  Governor governor(batch_of(4));
  EXPECT_EQ(fail(governor)->to, 2);
  EXPECT_EQ(fail(governor)->to, 1);
  EXPECT_FALSE(fail(governor));
  EXPECT_THAT(governor.refusal(), HasSubstr("even 1 sample"));
}

TEST(Governor, NeverSplitsALossThatCouplesSamples) {
  GovernorOptions options = batch_of(64);
  options.may_split = false;
  Governor governor(options);
  EXPECT_FALSE(fail(governor));
  EXPECT_THAT(governor.refusal(), HasSubstr("couples"));
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(governor.see(pressed()));
}

TEST(Governor, NeverChangesWhatTheUserFixed) {
  GovernorOptions options = batch_of(64);
  options.fixed = 16;
  options.start = 4;
  Governor governor(options);
  EXPECT_EQ(governor.micro_batch(), 16);
  EXPECT_FALSE(fail(governor));
  EXPECT_THAT(governor.refusal(), HasSubstr("memory.micro_batch"));
  EXPECT_FALSE(after_calm(governor, 500));
}

TEST(Governor, NeverSplitsAGroup) {
  GovernorOptions options = batch_of(32);
  options.group = 16;
  Governor governor(options);
  EXPECT_EQ(fail(governor)->to, 16);
  EXPECT_FALSE(fail(governor));
  EXPECT_THAT(governor.refusal(), HasSubstr("model.bn_group"));
}

TEST(Governor, ShrinksUnderPressureThatLasts) {
  Governor governor(batch_of(64));
  EXPECT_FALSE(governor.see(pressed()));
  EXPECT_FALSE(governor.see(calm()));
  EXPECT_FALSE(governor.see(pressed()));
  EXPECT_FALSE(governor.see(pressed()));
  const auto change = governor.see(pressed());
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, 32);
  EXPECT_EQ(change->cause, Cause::pressure);
}

TEST(Governor, OneLookAtTheMachineCountsOnce) {
  Governor governor(batch_of(64));
  governor.see(pressed());
  MemorySample not_looked = calm();
  not_looked.pressure = machine::Pressure::unknown;
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(governor.see(not_looked));
  governor.see(pressed());
  EXPECT_TRUE(governor.see(pressed()));
}

TEST(Governor, TasksThatWaitForMemoryArePressureToo) {
  Governor governor(batch_of(64));
  MemorySample sample = calm();
  sample.memory_stall = 0.3;
  governor.see(sample);
  governor.see(sample);
  EXPECT_TRUE(governor.see(sample));
}

TEST(Governor, ShrinksCloseToTheBudget) {
  Governor governor(batch_of(64));
  MemorySample sample = calm();
  sample.peak_bytes = 980 * kMiB;
  const auto change = governor.see(sample);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->cause, Cause::budget);
  EXPECT_EQ(governor.micro_batch(), 32);
}

TEST(Governor, GrowsBackOneSizeAfterCalmSteps) {
  Governor governor(batch_of(64));
  fail(governor);
  fail(governor);
  EXPECT_EQ(governor.micro_batch(), 16);
  const auto change = after_calm(governor, 1000);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->from, 16);
  EXPECT_EQ(change->to, 32);
  EXPECT_EQ(change->cause, Cause::room);
}

TEST(Governor, CalmMustLastLongerAfterEveryShrink) {
  Governor governor(batch_of(64));
  fail(governor);
  EXPECT_FALSE(after_calm(governor, 99));
  EXPECT_TRUE(after_calm(governor, 1));
}

TEST(Governor, DoesNotGrowBackToASizeThatFailedTwice) {
  Governor governor(batch_of(2));
  fail(governor);
  ASSERT_TRUE(after_calm(governor, 100));
  fail(governor);
  EXPECT_FALSE(after_calm(governor, 10000));
}

TEST(Governor, DoesNotGrowWhereTheLargerSizeWouldNotFit) {
  Governor governor(batch_of(64));
  fail(governor);
  MemorySample sample = calm();
  sample.peak_bytes = 500 * kMiB; // twice that is the whole budget
  for (int i = 0; i < 1000; ++i)
    EXPECT_FALSE(governor.see(sample));
  sample = calm();
  sample.available_bytes = 100 * kMiB;
  for (int i = 0; i < 1000; ++i)
    EXPECT_FALSE(governor.see(sample));
}

TEST(Governor, KnowsFromTheForecastWhatALargerSizeTakes) {
  GovernorOptions options = batch_of(64);
  options.base_bytes = 480.0 * kMiB;
  options.sample_bytes = 0.625 * kMiB; // 500 MiB with 32, 520 with 64
  Governor governor(options);
  fail(governor);
  MemorySample sample = calm();
  sample.peak_bytes = 500 * kMiB;
  std::optional<Change> change;
  for (int i = 0; i < 1000 && !change; ++i)
    change = governor.see(sample);
  EXPECT_TRUE(change);
}

TEST(Governor, SaysOnceWhatSplittingMeansForBatchNorm) {
  GovernorOptions options = batch_of(64);
  options.batch_norm = true;
  Governor governor(options);
  EXPECT_THAT(fail(governor)->why, HasSubstr("model.bn_group"));
  EXPECT_THAT(fail(governor)->why, Not(HasSubstr("model.bn_group")));
  options.group = 8;
  Governor grouped(options);
  EXPECT_THAT(fail(grouped)->why, Not(HasSubstr("model.bn_group")));
}

TEST(Governor, GoesOnFromItsState) {
  Governor governor(batch_of(8));
  fail(governor);
  fail(governor);
  after_calm(governor, 30);
  Governor other(batch_of(8));
  other.restore(governor.state());
  EXPECT_EQ(other.micro_batch(), 2);
  EXPECT_EQ(other.state(), governor.state());
  int steps = 0;
  while (true) {
    ++steps;
    const auto one = governor.see(calm());
    const auto two = other.see(calm());
    ASSERT_EQ(one.has_value(), two.has_value());
    if (one) break;
  }
  EXPECT_EQ(steps, 170); // of 200
}

TEST(Governor, AStateOfAnotherBatchIsNotUsed) {
  Governor governor(batch_of(8));
  fail(governor);
  Governor other(batch_of(16));
  other.restore(governor.state());
  EXPECT_EQ(other.micro_batch(), 0);
}

TEST(Governor, AStateThatCannotBeReadIsAnError) {
  Governor governor(batch_of(8));
  governor.restore("");
  EXPECT_THROW(governor.restore("{"), Error);
}

} // namespace
} // namespace temper::memory
