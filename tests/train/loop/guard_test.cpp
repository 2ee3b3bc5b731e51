#include "temper/train/loop/guard.h"

#include <gtest/gtest.h>

#include <cmath>

namespace temper::train {
namespace {

config::Guard options(const char* nan) {
  config::Guard made;
  made.nan = nan;
  return made;
}

TEST(Guard, BatchesArePassedOverUntilPatienceEnds) {
  const config::Guard skip = options("skip");
  GuardState state;
  Guard guard(skip, state);
  EXPECT_EQ(guard.not_finite(10), Action::skip);
  EXPECT_EQ(guard.not_finite(10), Action::skip);
  guard.committed(11, 1); // patience begins anew
  EXPECT_EQ(guard.not_finite(11), Action::skip);
  EXPECT_EQ(guard.not_finite(11), Action::skip);
  EXPECT_EQ(guard.not_finite(11), Action::roll_back);
  EXPECT_EQ(state.lr_factor, 1);
}

TEST(Guard, ASecondRollbackWithoutProgressCutsTheRateAThirdStops) {
  const config::Guard back = options("rollback");
  GuardState state;
  Guard guard(back, state);
  EXPECT_EQ(guard.not_finite(250), Action::roll_back);
  guard.committed(201, 1); // trained again from 200, and not as far as 250
  EXPECT_EQ(guard.not_finite(240), Action::roll_back);
  EXPECT_EQ(state.lr_factor, 0.5);
  guard.committed(150, 1);
  EXPECT_EQ(guard.not_finite(180), Action::stop);
  EXPECT_NE(guard.why_stopped().find("beyond update 250"), std::string::npos)
      << guard.why_stopped();
}

TEST(Guard, ProgressBeyondTheFailureForgives) {
  const config::Guard back = options("rollback");
  GuardState state;
  Guard guard(back, state);
  for (std::int64_t failure = 100; failure < 1000; failure += 100) {
    EXPECT_EQ(guard.not_finite(failure), Action::roll_back) << failure;
    guard.committed(failure + 1, 1);
  }
  EXPECT_EQ(state.lr_factor, 1);
}

TEST(Guard, StopStopsAndSoDoesHavingNowhereToGo) {
  const config::Guard stop = options("stop");
  GuardState state;
  EXPECT_EQ(Guard(stop, state).not_finite(0), Action::stop);
  config::Guard nowhere = options("rollback");
  nowhere.rollback = 0;
  EXPECT_EQ(Guard(nowhere, state).not_finite(0), Action::stop);
  EXPECT_NE(
      Guard(nowhere, state).why_stopped().find("guard.rollback"),
      std::string::npos);
}

TEST(Guard, AnExplosionOfTheLossStandsOutFromItsNoise) {
  config::Guard watching = options("skip");
  watching.loss_spike = 8;
  GuardState state;
  Guard guard(watching, state);
  EXPECT_TRUE(guard.watches_losses());
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(std::isinf(guard.loss_limit())) << "too few to judge by";
    guard.committed(i + 1, 2 + 0.1 * (i % 5));
  }
  guard.committed(16, 50); // one outlier moves a mean, not a median
  const double limit = guard.loss_limit();
  EXPECT_GT(limit, 2.5);
  EXPECT_LT(limit, 4.5);
  for (int i = 0; i < 500; ++i)
    guard.committed(17 + i, 1);
  EXPECT_EQ(state.losses.size(), 64U) << "nothing grows with the run";
  EXPECT_GT(guard.loss_limit(), 1.05) << "equal losses are no measure of noise";
  GuardState untouched;
  const config::Guard off = options("skip");
  EXPECT_FALSE(Guard(off, untouched).watches_losses());
  EXPECT_TRUE(std::isinf(Guard(off, untouched).loss_limit()));
}

// The same answers from a state that went through a checkpoint.
TEST(Guard, AllItRemembersIsInItsState) {
  config::Guard watching = options("skip");
  watching.loss_spike = 5;
  GuardState state;
  Guard guard(watching, state);
  for (int i = 0; i < 30; ++i)
    guard.committed(i + 1, 1 + 0.1 * (i % 7));
  guard.not_finite(30);
  GuardState copy = state;
  Guard resumed(watching, copy);
  EXPECT_EQ(resumed.loss_limit(), guard.loss_limit());
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(resumed.not_finite(30), guard.not_finite(30)) << i;
}

TEST(GoodStates, TheNewestFewStayAndTheOldestIsNeverDropped) {
  config::Guard every_ten = options("skip");
  every_ten.rollback_every = 10;
  GoodStates states(every_ten);
  EXPECT_TRUE(states.due(3)) << "there must be one before the first step";
  states.keep(3, {});
  EXPECT_FALSE(states.due(9));
  EXPECT_TRUE(states.due(10));
  states.keep(10, {});
  EXPECT_FALSE(states.due(10));
  states.keep(20, {});
  EXPECT_EQ(states.newest()->update, 20);
  states.drop_newest();
  EXPECT_EQ(states.newest()->update, 10);
  states.drop_newest();
  EXPECT_EQ(states.newest()->update, 10);
  EXPECT_FALSE(GoodStates(options("stop")).due(0));
}

} // namespace
} // namespace temper::train
