// Every place a run can be interrupted at, one by one, each stopped there
// exactly and resumed by a fresh process: the end is that of a run left alone,
// bit for bit. With TEMPER_TORTURE for several networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "tests/cli/run_temper.h"
#include "tests/cli/small_runs.h"

namespace temper {
namespace {

using tests::after_update;
using tests::Network;
using tests::run_until;
using tests::SmallRun;

tests::TempFolder& folder() {
  static tests::TempFolder made;
  return made;
}

// Runs that nobody disturbs, each made once.
const SmallRun& whole(
    const Network& network,
    const std::vector<std::string>& more) {
  static std::map<std::string, std::unique_ptr<SmallRun>> made;
  const std::string name = cat("whole-", network.name, more.size());
  auto& run = made[name];
  if (run) return *run;
  run = std::make_unique<SmallRun>(SmallRun{folder(), name, network.keys});
  run->keys.insert(run->keys.end(), more.begin(), more.end());
  const auto result = tests::run_temper({}, run->start_line());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(run->digest().size(), 64U);
  return *run;
}

struct Lengths {
  std::int64_t epoch = 0; // updates
  std::int64_t all = 0;
};

Lengths lengths_of(const SmallRun& run) {
  Lengths found;
  found.all = static_cast<std::int64_t>(run.events("step").size());
  for (const auto& event : run.events("step"))
    found.epoch += event.count("epoch") == 0 ? 1 : 0;
  EXPECT_GT(found.epoch, 6);
  EXPECT_EQ(found.all, 3 * found.epoch);
  return found;
}

// The first update with another rate than the one before.
std::int64_t update_after_drop(const SmallRun& run) {
  std::optional<double> before;
  for (const auto& event : run.events("step")) {
    const auto lr = event.number("lr");
    if (before && lr && *lr < *before) return event.count("step").value_or(0);
    before = lr;
  }
  ADD_FAILURE() << "the learning rate never drops";
  return 1;
}

class ResumeMatrix : public testing::Test {
 protected:
  using Row = std::function<void(const SmallRun& whole, const SmallRun& run)>;

  // `row` does the first part of `run`; the command does the rest.
  void for_all(
      const char* name,
      const Row& row,
      const std::vector<std::string>& more = {},
      const std::vector<std::string>& changes = {}) {
    int cases = 0;
    for (const Network& network : tests::networks(folder())) {
      SCOPED_TRACE(network.name);
      const SmallRun& undisturbed = whole(network, more);
      SmallRun run = undisturbed;
      run.name = cat(network.name, "-", name);
      row(undisturbed, run);
      if (HasFailure()) return;
      const auto rest = tests::run_temper({}, run.resume_line(changes));
      ASSERT_EQ(rest.code, 0) << rest.err;
      run.expect_same_as(undisturbed);
      ++cases;
    }
    RecordProperty("cases", cases);
  }

  static void stop_after(const SmallRun& run, std::int64_t update) {
    const auto outcome = run_until(run.request(), after_update(update));
    EXPECT_EQ(outcome.ending, train::Ending::kStopped);
    EXPECT_EQ(run.checkpoints().load_latest()->update, update);
  }
};

TEST_F(ResumeMatrix, BeforeTheFirstStep) {
  for_all("start", [](const SmallRun&, const SmallRun& run) {
    auto request = run.request();
    tests::WhenStarted observer([] { throw std::runtime_error("killed"); });
    request.observer = &observer;
    EXPECT_THROW(train::run(request), std::runtime_error);
    EXPECT_EQ(run.checkpoints().list().size(), 0U);
    EXPECT_EQ(run.events("run").size(), 1U);
  });
}

TEST_F(ResumeMatrix, AfterTheFirstStep) {
  for_all("first", [](const SmallRun&, const SmallRun& run) {
    stop_after(run, 1);
  });
}

TEST_F(ResumeMatrix, InTheMiddleOfAnEpoch) {
  for_all("middle", [](const SmallRun& whole, const SmallRun& run) {
    stop_after(run, lengths_of(whole).epoch / 2);
    EXPECT_NE(run.checkpoints().load_latest()->loader, "");
  });
}

// Its validation is still to come.
TEST_F(ResumeMatrix, AfterTheLastStepOfAnEpoch) {
  for_all("epoch", [](const SmallRun& whole, const SmallRun& run) {
    stop_after(run, lengths_of(whole).epoch);
    EXPECT_EQ(run.checkpoints().load_latest()->epoch, 0U);
    EXPECT_EQ(run.events("epoch").size(), 0U);
  });
}

// What came after was lost, and the journal knows more than the checkpoint.
TEST_F(ResumeMatrix, BetweenTwoEpochs) {
  for_all("edge", [](const SmallRun& whole, const SmallRun& run) {
    const std::int64_t epoch = lengths_of(whole).epoch;
    stop_after(run, epoch + 1);
    const auto lost = run.directory().checkpoints() / cat("step-", epoch + 1);
    EXPECT_GT(std::filesystem::remove_all(lost), 0U);
    const auto newest = run.checkpoints().load_latest();
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->update, epoch);
    EXPECT_EQ(newest->epoch, 1U);
    EXPECT_EQ(newest->loader, "");
  });
}

TEST_F(ResumeMatrix, AfterTheLastStepOfAll) {
  for_all("last", [](const SmallRun& whole, const SmallRun& run) {
    stop_after(run, lengths_of(whole).all);
    EXPECT_EQ(run.events("epoch").size(), 2U);
  });
}

TEST_F(ResumeMatrix, WhenAllIsDone) {
  for_all("done", [](const SmallRun&, const SmallRun& run) {
    const auto outcome =
        run_until(run.request(), [](const auto&) { return false; });
    EXPECT_EQ(outcome.ending, train::Ending::kDone);
  });
}

TEST_F(ResumeMatrix, AfterTheScheduleLoweredTheRate) {
  for_all("lower", [](const SmallRun& whole, const SmallRun& run) {
    const std::int64_t drop = update_after_drop(whole);
    EXPECT_GT(drop % lengths_of(whole).epoch, 1) << "not within an epoch";
    stop_after(run, drop);
  });
}

// That it did is remembered nowhere but in the checkpoint.
TEST_F(ResumeMatrix, AfterAPlateauLoweredTheRate) {
  for_all(
      "plateau",
      [](const SmallRun& whole, const SmallRun& run) {
        stop_after(run, update_after_drop(whole));
      },
      // Nothing is learnt with it: some epoch is no better.
      {"schedule.name=plateau",
       "schedule.step=1",
       "train.epochs=6",
       "optimizer.lr=1e-12",
       "checkpoint.metric=train_loss"});
}

TEST_F(ResumeMatrix, WithAveragedWeights) {
  for_all("average", [](const SmallRun& whole, const SmallRun& run) {
    const Lengths lengths = lengths_of(whole);
    stop_after(run, lengths.all - lengths.epoch / 2);
    int averaged = 0;
    const auto newest = run.checkpoints().load_latest();
    for (const auto& [name, tensor] : newest->tensors) {
      if (!name.starts_with("ema.")) continue;
      const auto& own = newest->tensors.at("model." + name.substr(4));
      averaged +=
          std::memcmp(tensor.bytes.get(), own.bytes.get(), own.byte_count) != 0
          ? 1
          : 0;
    }
    EXPECT_GT(averaged, 1);
  });
}

// Resumed twice, each time with others.
TEST_F(ResumeMatrix, WithOtherWorkers) {
  for_all(
      "workers",
      [](const SmallRun& whole, const SmallRun& run) {
        const std::int64_t epoch = lengths_of(whole).epoch;
        stop_after(run, epoch / 2);
        auto request = run.request();
        request.resume = run.directory().path;
        request.changes = {config::parse_assignment("loader.workers=3")};
        const auto outcome = run_until(request, after_update(epoch + 3));
        EXPECT_EQ(outcome.updates, epoch + 3);
      },
      {},
      {"loader.workers=2"});
}

} // namespace
} // namespace temper
