// Steps whose numbers nobody has read yet: what they add up to, which of them
// was the first that was not finite, and that reading forgets them.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "temper/train/torch/pending_losses.h"
#include "temper/train/torch/pending_steps.h"

namespace temper::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PendingLosses, ComeBackInTheirOrderAndAreForgotten) {
  PendingLosses losses;
  EXPECT_THAT(losses.take(), IsEmpty());
  for (const float number : {3.F, 1.F, 2.F})
    losses.add(at::scalar_tensor(number));
  EXPECT_THAT(losses.take(), ElementsAre(3, 1, 2));
  EXPECT_THAT(losses.take(), IsEmpty());
}

TEST(PendingLosses, ThatNobodyAsksForAreFullAtLast) {
  PendingLosses losses;
  const at::Tensor number = at::scalar_tensor(1.F);
  int count = 0;
  for (; !losses.full(); ++count)
    losses.add(number);
  EXPECT_EQ(count, 2000);
  EXPECT_EQ(losses.take().size(), 2000U);
  EXPECT_FALSE(losses.full());
}

class StepsUnread : public testing::Test {
 protected:
  // A step of two samples with this sum of losses and this norm.
  void step(double loss, double norm) {
    UnreadStep step;
    step.order.update = next_;
    step.units = 2;
    step.count = 2;
    step.samples = {10 * next_, 10 * next_ + 1};
    step.loss = at::scalar_tensor(loss);
    step.norm = at::scalar_tensor(norm);
    ++next_;
    steps_.add(steps_.asked(std::move(step)));
  }
  bool all_finite() const {
    return steps_.finite().item<bool>();
  }

  PendingSteps steps_;
  MetricSums sums_;
  StepReport report_;
  std::int64_t next_ = 5;
};

TEST_F(StepsUnread, AddUpAndReportTheLast) {
  EXPECT_FALSE(steps_.finite().defined());
  step(4, 1);
  step(6, 3);
  EXPECT_TRUE(all_finite());
  EXPECT_FALSE(steps_.empty());
  EXPECT_FALSE(steps_.read(sums_, report_));
  EXPECT_EQ(sums_.loss, 10);
  EXPECT_EQ(sums_.units, 4);
  EXPECT_EQ(sums_.samples, 4);
  EXPECT_EQ(report_.loss, 3);
  EXPECT_EQ(report_.grad_norm, 3);
  EXPECT_TRUE(steps_.empty());
  EXPECT_FALSE(steps_.finite().defined());
}

// What follows was computed and not committed: it does not count.
TEST_F(StepsUnread, FromTheFirstThatIsNotFiniteNoneCounts) {
  step(4, 1);
  step(kNan, 1);
  EXPECT_FALSE(all_finite());
  step(6, 3);
  EXPECT_FALSE(all_finite()) << "closed until somebody has read";
  const auto bad = steps_.read(sums_, report_);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->step.order.update, 6);
  EXPECT_THAT(bad->step.samples, ElementsAre(60, 61));
  EXPECT_EQ(bad->latest, 7);
  EXPECT_EQ(bad->verdict.what, "the loss became nan");
  EXPECT_EQ(sums_.samples, 2);
  EXPECT_EQ(report_.loss, 2);
  step(6, 3);
  EXPECT_TRUE(all_finite()) << "it begins anew";
}

TEST_F(StepsUnread, AGradientWithoutEndIsSeenToo) {
  step(4, kInfinity);
  EXPECT_FALSE(all_finite());
  const auto bad = steps_.read(sums_, report_);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->verdict.what, "the gradient became inf");
}

TEST_F(StepsUnread, KeepNoHistoryOfWhatTheyWereComputedFrom) {
  UnreadStep step;
  step.units = 1;
  step.loss = at::ones({1}).requires_grad_(true) * 2;
  step.norm = at::ones({1}).requires_grad_(true) * 3;
  const UnreadStep asked = steps_.asked(step);
  EXPECT_FALSE(asked.loss.requires_grad());
  EXPECT_FALSE(asked.norm.requires_grad());
  EXPECT_EQ(asked.loss.dim(), 0);
  EXPECT_TRUE(steps_.empty()) << "asked() adds nothing";
}

TEST(StepVerdicts, NameWhatIsWrongWithAStep) {
  StepOrder order;
  order.update = 8;
  order.epoch = 1;
  EXPECT_EQ(judge(4, 1, 2, order).what, "");
  order.loss_limit = 1.5;
  EXPECT_THAT(judge(4, 1, 2, order).what, HasSubstr("jumped to 2, above"));
  try {
    refuse({"the loss became nan"}, order, 11, {3});
  } catch (const NotFinite& bad) {
    EXPECT_THAT(
        bad.what(),
        HasSubstr("in update 9 (epoch 2; seen after update 12): no weight was "
                  "changed by it or since."));
    EXPECT_EQ(bad.update, 8);
    EXPECT_THAT(bad.samples, ElementsAre(3));
  }
}

} // namespace
} // namespace temper::train
