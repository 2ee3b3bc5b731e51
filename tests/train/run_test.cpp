#include "temper/train/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/atomic_file.h"
#include "tests/train/counting_run.h"

namespace temper::train {
namespace {

using testing::HasSubstr;

class RunTest : public CountingRun {
 protected:
  std::filesystem::path checkpoints() const {
    return directory().checkpoints();
  }
};

TEST_F(RunTest, an_update_that_failed_half_way_is_begun_again_elsewhere) {
  breaks_at(5);
  const RunResult broken = run(request_);
  EXPECT_TRUE(broken.outcome.start_again);
  EXPECT_EQ(broken.outcome.ending, Ending::kStopped);
  EXPECT_THAT(said_, HasSubstr("an update failed half way. Resume the run."));
  EXPECT_EQ(checkpoint::Store(checkpoints()).load_latest()->update, 4);
  breaks_at(-1);
  request_.resume = folder_ / "runs/x";
  const RunResult done = run(request_);
  EXPECT_EQ(done.outcome.ending, Ending::kDone);
  EXPECT_EQ(done.outcome.updates, 16);
}

// Killed when its last checkpoint had its name, and nothing named it yet.
TEST_F(RunTest, a_finished_run_that_goes_on_names_its_last_checkpoint) {
  ASSERT_EQ(run(request_).outcome.updates, 16);
  ASSERT_EQ(tests::read_bytes(checkpoints() / "latest"), "step-16\n");
  write_file_atomically(checkpoints() / "latest", "step-14\n");
  request_.resume = folder_ / "runs/x";
  EXPECT_EQ(run(request_).outcome.ending, Ending::kDone);
  EXPECT_EQ(tests::read_bytes(checkpoints() / "latest"), "step-16\n");
}

} // namespace
} // namespace temper::train
