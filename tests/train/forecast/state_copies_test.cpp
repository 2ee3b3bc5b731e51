#include "temper/train/forecast/state_copies.h"

#include <gtest/gtest.h>

namespace temper::train {
namespace {

EngineFacts hundred_mib() {
  EngineFacts facts;
  facts.state_bytes = 100 << 20;
  facts.trainable = (20 << 20) / 4; // 20 MiB of gradients
  return facts;
}

std::uint64_t mib(std::uint64_t count) {
  return count << 20;
}

TEST(StateCopies, ThereAreAllOfThemWhereThereIsRoom) {
  for (const std::uint64_t room : {mib(0), mib(520), mib(10'000)}) {
    const auto made = copies_of_state({}, hundred_mib(), room);
    EXPECT_EQ(made.good_states, 2U);
    EXPECT_EQ(made.checkpoints, 2U);
    EXPECT_EQ(made.bytes, mib(400));
  }
}

TEST(StateCopies, GoodStatesGoFirstThenTheSecondForCheckpoints) {
  EXPECT_EQ(copies_of_state({}, hundred_mib(), mib(519)).good_states, 1U);
  EXPECT_EQ(copies_of_state({}, hundred_mib(), mib(419)).good_states, 0U);
  EXPECT_EQ(copies_of_state({}, hundred_mib(), mib(320)).checkpoints, 2U);
  const auto least = copies_of_state({}, hundred_mib(), mib(319));
  EXPECT_EQ(least.good_states, 0U);
  EXPECT_EQ(least.checkpoints, 1U);
  EXPECT_EQ(least.bytes, mib(100));
}

TEST(StateCopies, WhoWantsNoGoodStatesHasNone) {
  config::Config config;
  config.guard.nan = "stop";
  EXPECT_EQ(copies_of_state(config, hundred_mib(), 0).good_states, 0U);
}

} // namespace
} // namespace temper::train
