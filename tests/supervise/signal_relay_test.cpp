// What a supervisor hands on to its trainer, on a clock of the test's own.
#include "temper/supervise/signal_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace temper::supervise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SignalsHandedOn : public testing::Test {
 protected:
  std::vector<int> due() {
    const auto in = [](const std::map<int, int>& counts) {
      return [&counts](int signal) {
        const auto found = counts.find(signal);
        return found == counts.end() ? 0 : found->second;
      };
    };
    return relay_.due(in(came_), in(noticed_), now_s_);
  }
  void another_trainer() {
    noticed_.clear();
    relay_.begin([this](int signal) { return came_[signal]; });
  }
  void pass(double seconds) {
    now_s_ += seconds;
  }

  SignalRelay relay_;
  std::map<int, int> came_;
  std::map<int, int> noticed_;
  double now_s_ = 100;
};

TEST_F(SignalsHandedOn, NoneWithoutASignal) {
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_FALSE(relay_.is_waiting());
}

TEST_F(SignalsHandedOn, OneThatTheTrainerDidNotNoticeAfterAMoment) {
  came_[SIGTERM] = 1;
  EXPECT_THAT(due(), IsEmpty()) << "it may be on its way";
  EXPECT_TRUE(relay_.is_waiting());
  pass(SignalRelay::kGrace_s / 2);
  EXPECT_THAT(due(), IsEmpty());
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGTERM));
  EXPECT_FALSE(relay_.is_waiting());
  pass(10);
  EXPECT_THAT(due(), IsEmpty()) << "it is sent once";
}

TEST_F(SignalsHandedOn, NotOneThatReachedBoth) {
  came_[SIGINT] = 1;
  noticed_[SIGINT] = 1;
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_FALSE(relay_.is_waiting());
  pass(10);
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(SignalsHandedOn, NotOneThatWasNoticedWithinTheMoment) {
  came_[SIGINT] = 1;
  EXPECT_THAT(due(), IsEmpty());
  noticed_[SIGINT] = 1;
  pass(10);
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_FALSE(relay_.is_waiting());
}

// Two at once are one to a process.
TEST_F(SignalsHandedOn, TwoOfAKindOneAfterTheOther) {
  came_[SIGTERM] = 2;
  EXPECT_THAT(due(), IsEmpty());
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGTERM));
  EXPECT_TRUE(relay_.is_waiting());
  EXPECT_THAT(due(), IsEmpty());
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGTERM));
  EXPECT_FALSE(relay_.is_waiting());
  pass(10);
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(SignalsHandedOn, TheSecondWhereOnlyTheFirstWasNoticed) {
  came_[SIGINT] = 2;
  noticed_[SIGINT] = 1;
  due();
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGINT));
  pass(10);
  EXPECT_THAT(due(), IsEmpty());
}

// A trainer that begins to count only when it listens has one it was sent.
TEST_F(SignalsHandedOn, OneThatWasSentIsNotMissedByALateCount) {
  came_[SIGTERM] = 1;
  due();
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGTERM));
  noticed_[SIGTERM] = 1;
  came_[SIGTERM] = 2;
  due();
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGTERM)) << "the second came by kill, too";
}

TEST_F(SignalsHandedOn, EachKindByItself) {
  came_[SIGHUP] = 1;
  due();
  pass(SignalRelay::kGrace_s / 2);
  came_[SIGUSR1] = 1;
  EXPECT_THAT(due(), IsEmpty());
  pass(SignalRelay::kGrace_s / 2 + 0.01);
  EXPECT_THAT(due(), ElementsAre(SIGHUP));
  EXPECT_TRUE(relay_.is_waiting());
  pass(SignalRelay::kGrace_s / 2);
  EXPECT_THAT(due(), ElementsAre(SIGUSR1));
}

TEST_F(SignalsHandedOn, AWishToStopGoesToTheNextTrainerNoOther) {
  came_[SIGUSR1] = 3;
  came_[SIGTERM] = 1;
  another_trainer();
  EXPECT_THAT(due(), IsEmpty());
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGTERM));
  came_[SIGUSR1] = 4;
  due();
  pass(SignalRelay::kGrace_s);
  EXPECT_THAT(due(), ElementsAre(SIGUSR1)) << "one for this trainer";
}

} // namespace
} // namespace temper::supervise
