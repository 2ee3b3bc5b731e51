#include "temper/session/trainer_side.h"

#include <gtest/gtest.h>

#include "temper/session/parent.h"

namespace temper::session {
namespace {

TEST(TrainerSide, AParentIsWantedUnlessSomebodySaysNo) {
  EXPECT_TRUE(wants_parent({}));
  EXPECT_TRUE(wants_parent({{"TEMPER_SUPERVISE", "1"}}));
  EXPECT_FALSE(wants_parent({{"TEMPER_SUPERVISE", "0"}}));
  EXPECT_FALSE(wants_parent({{"TEMPER_TRAINER", "3"}}));
}

// What the trainer is told is not handed on to programs it starts.
TEST(TrainerSide, ATrainerWithoutItsPageTrainsAllTheSame) {
  const TrainerSide nobody(Environment{});
  EXPECT_EQ(nobody.heartbeats(), nullptr);
  EXPECT_EQ(nobody.signals(), nullptr);
  const TrainerSide damaged(Environment{{"TEMPER_TRAINER", "not a number"}});
  EXPECT_EQ(damaged.heartbeats(), nullptr);
  EXPECT_FALSE(damaged.resumes());
}

} // namespace
} // namespace temper::session
