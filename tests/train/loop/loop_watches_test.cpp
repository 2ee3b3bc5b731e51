#include "temper/train/loop/loop_watches.h"

#include <gmock/gmock.h>

#include "tests/train/loop/loop_fakes.h"

namespace temper::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LoopWatchesTest : public LoopTest {
 protected:
  // What was asked of LibTorch when a run is slow on a crowded machine, then
  // has it to itself again, with a checkpoint after each.
  std::vector<int> threads_asked_for(bool may_change) {
    std::vector<int> asked;
    journal::Journal journal(folder_ / "journal.jsonl");
    checkpoint::Store store(folder_ / "checkpoints");
    machine::Sample now;
    LoopParts parts{
        .config = config_,
        .engine = engine_,
        .train = batches_,
        .journal = journal,
        .checkpoints = store,
        .gauge = [&] { return now; },
        .threads = 4};
    parts.around.cpu.logical = 4;
    parts.around.cpu.usable = 4;
    if (may_change)
      parts.set_threads = [&](int count) { asked.push_back(count); };
    memory::Governor governor;
    Attempt attempt(engine_, governor, [](const journal::Event&) {});
    const Progress progress;
    LoopWatches watches(
        {parts, progress, governor, attempt, [](const journal::Event&) {}});
    const auto steps = [&](int count, double step_s, double others) {
      now.process_cpu = 0;
      now.cpu = others / 4;
      watches.look();
      for (int i = 0; i < count; ++i)
        watches.after_step(step_s);
    };
    steps(100, 0.1, 0);
    steps(100, 0.4, 2);
    EXPECT_THAT(asked, IsEmpty()) << "not before a checkpoint";
    watches.at_checkpoint();
    steps(200, 0.2, 2);
    steps(200, 0.15, 0);
    watches.at_checkpoint();
    watches.at_checkpoint();
    return asked;
  }
};

TEST_F(LoopWatchesTest, ThreadsChangeAtCheckpointsWhereBitsAllowIt) {
  EXPECT_THAT(threads_asked_for(true), ElementsAre(2, 4));
}

TEST_F(LoopWatchesTest, ThreadsStayWhereBitsDependOnThem) {
  EXPECT_THAT(threads_asked_for(false), IsEmpty());
}

} // namespace
} // namespace temper::train
