#include "temper/cli/supervise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_temper.h"
#include "tests/temp_folder.h"

namespace temper::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Supervise, it_is_wanted_unless_somebody_says_no) {
  EXPECT_TRUE(wants_supervisor({}));
  EXPECT_TRUE(wants_supervisor({{"TEMPER_SUPERVISE", "1"}}));
  EXPECT_FALSE(wants_supervisor({{"TEMPER_SUPERVISE", "0"}}));
  EXPECT_FALSE(wants_supervisor({{"TEMPER_TRAINER", "3"}}));
}

// What the trainer is told is not handed on to programs it starts.
TEST(Supervise, a_trainer_without_its_page_trains_all_the_same) {
  const TrainerSide nobody(Environment{});
  EXPECT_EQ(nobody.heartbeats(), nullptr);
  EXPECT_EQ(nobody.signals(), nullptr);
  const TrainerSide damaged(Environment{{"TEMPER_TRAINER", "not a number"}});
  EXPECT_EQ(damaged.heartbeats(), nullptr);
}

class SuperviseTrain : public testing::Test {
 protected:
  ProcessResult train(const std::vector<std::string>& more) const {
    std::vector<std::string> all{
        "train",
        "--data",
        "synthetic:rows=64,features=4,classes=2",
        "--epochs",
        "1",
        "--set",
        "plan.seconds=0",
        "--set",
        "model.widths=[4]",
        "--set",
        "run.dir=" + folder_.text("runs"),
        "--set",
        "run.name=x"};
    all.insert(all.end(), more.begin(), more.end());
    return tests::run_temper({"env", "TEMPER_SUPERVISE=1"}, all);
  }
  tests::TempFolder folder_;
};

TEST_F(SuperviseTrain, what_the_trainer_says_and_how_it_ends_is_the_commands) {
  const auto good = train({});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("1/1"));
  EXPECT_EQ(good.err, "");
  const auto twice = train({}); // the name is taken
  EXPECT_EQ(twice.code, 1);
  EXPECT_THAT(twice.err, HasSubstr("there is a run x in"));
  EXPECT_THAT(twice.err, Not(HasSubstr("started again")));
  EXPECT_EQ(train({"--set", "train.epochs=none"}).code, 2);
}

} // namespace
} // namespace temper::cli
