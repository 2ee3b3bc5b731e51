// What a run says took its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/train/run/run.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

Outcome outcome_of(double seconds, double waiting, double evaluating) {
  Outcome made;
  made.seconds = seconds;
  made.waiting_s = waiting;
  made.evaluating_s = evaluating;
  return made;
}

RunOverview inputs_of(std::vector<std::int64_t> shape) {
  RunOverview made;
  made.input_shape = std::move(shape);
  return made;
}

TEST(Bottleneck, AdviceIsOnlyGivenWhereItIsWorthSomething) {
  const RunOverview images = inputs_of({3, 32, 32});
  EXPECT_THAT(
      bottleneck(outcome_of(0.1, 0.03, 0), images),
      EndsWith("waited 30 % of the time for data"));
  EXPECT_THAT(
      bottleneck(outcome_of(100, 30, 0), images),
      EndsWith("more loader.workers or temper data pack help"));
  EXPECT_THAT(
      bottleneck(outcome_of(1, 0, 0.5), images),
      EndsWith("validation took 50 % of the time"));
  EXPECT_THAT(
      bottleneck(outcome_of(100, 0, 50), images),
      HasSubstr("train.eval_every"));
  EXPECT_THAT(
      bottleneck(outcome_of(100, 10, 10), images),
      AllOf(HasSubstr("computing is what takes the time"), HasSubstr("10 %")));
}

TEST(Bottleneck, RowsOfATableAreNotToBePacked) {
  EXPECT_THAT(
      bottleneck(outcome_of(100, 30, 0), inputs_of({8})),
      EndsWith(": more loader.workers help"));
}

} // namespace
} // namespace temper::train
