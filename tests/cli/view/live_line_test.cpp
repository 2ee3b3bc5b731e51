// The live line of `temper train` on a terminal, while its tracker is away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/on_terminal.h"
#include "tests/emulator.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

// With the followers in the parent, and in the process that trains.
class LiveLine : public testing::TestWithParam<const char*> {};

TEST_P(LiveLine, CountsWhatATrackerThatIsAwayHasNotTaken) {
  const tests::TempFolder folder;
  std::vector<std::string> words = tests::before_program();
  words.insert(
      words.end(),
      {TEMPER_PROGRAM,
       "train",
       "--data",
       "synthetic:rows=64,features=4,classes=2",
       "--epochs",
       "1000000"});
  // Nobody listens at the port of "discard".
  for (const std::string& each :
       {std::string("plan.seconds=0"),
        std::string("model.widths=[4]"),
        std::string("track.mlflow=http://127.0.0.1:9"),
        "run.dir=" + folder.text("runs")})
    words.insert(words.end(), {"--set", each});
  tests::OnTerminal temper(
      words, {{"TEMPER_SUPERVISE", GetParam()}, {"TERM", "xterm"}});
  if (!temper.started()) GTEST_SKIP() << "there are no terminals here";
  EXPECT_TRUE(temper.shows(" behind  loss", std::chrono::seconds(100)))
      << temper.seen();
  EXPECT_THAT(temper.seen(), testing::HasSubstr("of the journal wait."));
}

INSTANTIATE_TEST_SUITE_P(Supervised, LiveLine, testing::Values("0", "1"));

} // namespace
} // namespace temper
