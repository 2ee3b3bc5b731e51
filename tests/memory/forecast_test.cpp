#include "temper/memory/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sizes.h"

namespace temper::memory {
namespace {

using testing::HasSubstr;

// 100 MiB and 10 a sample.
std::uint64_t peak_of(int samples) {
  return (100 + 10 * static_cast<std::uint64_t>(samples)) * kMiB;
}

TEST(Forecast, TakesTheWholeBatchWhereItFits) {
  const Forecast made =
      choose_size(batch_of(64), {1000 * kMiB, "memory.budget"}, peak_of);
  EXPECT_EQ(made.at_once, 64);
  EXPECT_EQ(made.peak_bytes, 740 * kMiB);
  EXPECT_TRUE(made.fits);
  EXPECT_THAT(made.why, HasSubstr("the whole batch takes"));
}

TEST(Forecast, TakesTheLargestSizeThatLeavesHeadRoom) {
  const Forecast made = choose_size(batch_of(64), {760 * kMiB, ""}, peak_of);
  EXPECT_EQ(made.at_once, 32); // 740 would be all of it
  EXPECT_EQ(made.whole_bytes, 740 * kMiB);
  EXPECT_EQ(choose_size(batch_of(64), {300 * kMiB, ""}, peak_of).at_once, 16);
}

TEST(Forecast, TakesWhatFitsWithoutHeadRoomBeforeTheSmallest) {
  const Forecast tight = choose_size(batch_of(64), {119 * kMiB, ""}, peak_of);
  EXPECT_EQ(tight.at_once, 1);
  EXPECT_TRUE(tight.fits);
  const auto flat = [](int samples) {
    return (100 + static_cast<std::uint64_t>(samples)) * kMiB;
  };
  const Forecast large = choose_size(batch_of(8), {109 * kMiB, ""}, flat);
  EXPECT_EQ(large.at_once, 8);
  EXPECT_TRUE(large.fits);
}

TEST(Forecast, SaysWhenNothingFits) {
  const Forecast made = choose_size(batch_of(64), {50 * kMiB, ""}, peak_of);
  EXPECT_EQ(made.at_once, 1);
  EXPECT_FALSE(made.fits);
  EXPECT_THAT(made.why, HasSubstr("even that needs 110 MiB"));
}

TEST(Forecast, LeavesAloneWhatIsFixedOrCoupled) {
  GovernorOptions fixed = batch_of(64);
  fixed.fixed = 48;
  EXPECT_EQ(choose_size(fixed, {50 * kMiB, ""}, peak_of).at_once, 48);
  GovernorOptions coupled = batch_of(64);
  coupled.may_split = false;
  EXPECT_EQ(choose_size(coupled, {50 * kMiB, ""}, peak_of).at_once, 64);
}

TEST(Forecast, TheWholeBatchIsWhatAnUpdateIsMadeOf) {
  GovernorOptions fixed = batch_of(64);
  fixed.fixed = 16;
  EXPECT_EQ(choose_size(fixed, {}, peak_of).whole_bytes, 740 * kMiB);
  GovernorOptions accumulated = batch_of(64);
  accumulated.most = 16;
  const Forecast roomy = choose_size(accumulated, {900 * kMiB, ""}, peak_of);
  EXPECT_EQ(roomy.at_once, 16);
  EXPECT_EQ(roomy.peak_bytes, 260 * kMiB);
  EXPECT_EQ(roomy.whole_bytes, 740 * kMiB);
  EXPECT_EQ(roomy.why, "train.accumulate says so");
  const Forecast tight = choose_size(accumulated, {200 * kMiB, ""}, peak_of);
  EXPECT_EQ(tight.at_once, 8);
  EXPECT_EQ(tight.whole_bytes, 740 * kMiB);
  EXPECT_THAT(tight.why, HasSubstr("the whole batch would take 740 MiB"));
  // However many there are at once, if that makes no difference.
  const auto same = [](int) { return 100 * kMiB; };
  EXPECT_EQ(
      choose_size(accumulated, {900 * kMiB, ""}, same).why,
      "train.accumulate says so");
}

TEST(Forecast, KnowsWhatASampleTakes) {
  const Forecast made = choose_size(batch_of(64), {1000 * kMiB, ""}, peak_of);
  EXPECT_DOUBLE_EQ(made.base_bytes, 100.0 * kMiB);
  EXPECT_DOUBLE_EQ(made.sample_bytes, 10.0 * kMiB);
}

TEST(Forecast, WithoutABudgetNothingIsSplit) {
  EXPECT_EQ(choose_size(batch_of(64), {}, peak_of).at_once, 64);
}

TEST(Forecast, TheTableHasPartsSumBudgetAndChoice) {
  Forecast made =
      choose_size(batch_of(64), {300 * kMiB, "memory.budget"}, peak_of);
  made.parts = {{"parameters", 100 * kMiB}, {"loader", 7 * kMiB, false}};
  const std::string text = to_text(made);
  EXPECT_THAT(text, HasSubstr("parameters             100 MiB"));
  EXPECT_THAT(text, HasSubstr("tensors at most        260 MiB"));
  EXPECT_THAT(text, HasSubstr("loader                 7.0 MiB"));
  EXPECT_THAT(text, HasSubstr("300 MiB  memory.budget"));
  EXPECT_THAT(text, HasSubstr("16 of 64 samples at once: the whole batch "));
}

TEST(Forecast, ItsErrorIsAPartOfWhatWasMeasured) {
  Forecast made;
  made.peak_bytes = 103 * kMiB;
  EXPECT_NEAR(error_of(made, 100 * kMiB), 0.03, 1e-9);
  EXPECT_EQ(error_of(made, 0), 0);
}

TEST(Forecast, ALineGoesThroughItsPoints) {
  const Line line = line_through(4, 140, 8, 180);
  EXPECT_DOUBLE_EQ(line.base, 100);
  EXPECT_DOUBLE_EQ(line.slope, 10);
  EXPECT_DOUBLE_EQ(line_through(4, 140, 4, 140).at(9), 140);
}

} // namespace
} // namespace temper::memory
