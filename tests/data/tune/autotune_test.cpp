#include "temper/data/tune/autotune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/tune/loader_tuner.h"
#include "temper/data/tune/tuning_memory.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::TempFolder;
using tests::write_bytes;

TuneLimits roomy() {
  TuneLimits limits;
  limits.most_workers = 8;
  limits.most_depth = 64;
  limits.batch_bytes = 100;
  limits.scratch_bytes = 10;
  limits.budget_bytes = 1000;
  return limits;
}

// A second in which the consumer waited for a part of it.
TuneWindow window(double stall, double busy, double samples_per_s) {
  return {50, stall, 1 - stall, busy, samples_per_s};
}

// A machine on which `useful` workers help and the consumer takes at most
// `wanted` samples a second, a worker making 100.
TuneWindow simulate(Tuning tuning, int useful, double wanted) {
  const double made = 100.0 * std::min(tuning.workers, useful);
  const double rate = std::min(made, wanted);
  return window(1 - rate / wanted, std::min(1.0, wanted / made), rate);
}

TEST(Autotune, LeavesTheFirstStepsAlone) {
  Autotuner tuner({2, 3}, roomy());
  for (int i = 0; i < Autotuner::kFirstSteps; ++i)
    EXPECT_EQ(tuner.observe({1, 0.9, 0.1, 1, 100}), (Tuning{2, 3}));
  EXPECT_EQ(tuner.observe({1, 0.9, 0.1, 1, 100}), (Tuning{3, 3}));
}

TEST(Autotune, AddsWorkersWhileTheConsumerWaitsAndTheyHelp) {
  Autotuner tuner({1, 3}, roomy());
  for (int i = 0; i < 50; ++i)
    tuner.observe(simulate(tuner.tuning(), 8, 450));
  EXPECT_EQ(tuner.tuning(), (Tuning{5, 3}));
  EXPECT_TRUE(tuner.settled());
}

TEST(Autotune, TakesBackAWorkerThatDoesNotHelpAndHolds) {
  Autotuner tuner({2, 3}, roomy());
  int changes = 0;
  Tuning last = tuner.tuning();
  for (int i = 0; i < 50; ++i) {
    const Tuning now = tuner.observe(simulate(last, 2, 1000));
    changes += now != last;
    last = now;
  }
  EXPECT_EQ(last, (Tuning{2, 3}));
  EXPECT_EQ(changes, 2) << "one up, one down, then it holds";
  EXPECT_TRUE(tuner.settled());
  for (int i = 0; i < Autotuner::kHoldWindows; ++i) {
    const Tuning now = tuner.observe(simulate(last, 2, 1000));
    changes += now != last;
    last = now;
  }
  EXPECT_EQ(changes, 4) << "after the hold it tries once more";
}

TEST(Autotune, AnswersBurstsWithDepthInsideTheBudget) {
  TuneLimits limits = roomy();
  limits.budget_bytes = 2 * 10 + 5 * 100 + 99;
  Autotuner tuner({2, 3}, limits);
  for (int i = 0; i < 20; ++i)
    tuner.observe(window(0.1, 0.6, 100));
  EXPECT_EQ(tuner.tuning(), (Tuning{2, 5}));
  EXPECT_LE(limits.bytes(tuner.tuning()), limits.budget_bytes);
}

TEST(Autotune, NeverAddsAWorkerBeyondTheBudgetOrTheCores) {
  TuneLimits limits = roomy();
  limits.budget_bytes = 3 * 100 + 2 * 10;
  Autotuner tight({2, 3}, limits);
  limits.budget_bytes = 10000;
  limits.most_workers = 3;
  Autotuner few({2, 3}, limits);
  for (int i = 0; i < 50; ++i) {
    tight.observe(simulate(tight.tuning(), 8, 2000));
    few.observe(simulate(few.tuning(), 8, 2000));
  }
  EXPECT_EQ(tight.tuning(), (Tuning{2, 3}));
  EXPECT_EQ(few.tuning(), (Tuning{3, 3}));
}

TEST(Autotune, TakesAwayIdleWorkersAndGivesBackTheOneThatWasNeeded) {
  Autotuner tuner({6, 3}, roomy());
  int changes = 0;
  Tuning last = tuner.tuning();
  for (int i = 0; i < 600; ++i) {
    const Tuning now = tuner.observe(simulate(last, 8, 290));
    changes += now != last;
    last = now;
  }
  // At 3 workers they are busy 97 %: no reason to take another.
  EXPECT_EQ(last.workers, 4) << "at 4 they idle for 27 %: enough is enough";
  EXPECT_EQ(changes, 2);

  Autotuner jumpy({3, 3}, roomy());
  for (int i = 0; i < 31; ++i)
    jumpy.observe(window(0, 0.5, 100));
  EXPECT_EQ(jumpy.tuning().workers, 2);
  jumpy.observe(window(0.2, 0.9, 80));
  EXPECT_EQ(jumpy.tuning().workers, 3);
  for (int i = 0; i < 100; ++i)
    jumpy.observe(window(0, 0.5, 100));
  EXPECT_EQ(jumpy.tuning().workers, 3) << "it does not try that again";
}

TEST(Autotune, LeavesAloneWhatIsFixed) {
  TuneLimits limits = roomy();
  limits.fixed_workers = true;
  limits.fixed_depth = true;
  Autotuner tuner({2, 3}, limits);
  for (int i = 0; i < 50; ++i)
    tuner.observe(window(0.5, i % 2 ? 1 : 0.5, 100));
  for (int i = 0; i < 50; ++i)
    tuner.observe(window(0, 0.1, 100));
  EXPECT_EQ(tuner.tuning(), (Tuning{2, 3}));
}

TEST(Autotune, SaysWhatItSettledOn) {
  Autotuner tuner({4, 3}, roomy());
  for (int i = 0; i < 12; ++i)
    tuner.observe(window(0.004, 0.8, 100));
  EXPECT_EQ(
      tuner.describe(),
      "4 workers, depth 3 (340 B), stall 0.4 %, workers busy 80 %");
}

TEST(LoaderTuner, SaysWhatItSettledOn) {
  std::vector<std::string> lines;
  const auto before = log::set_sink(
      [&](log::Level, const std::string& line) { lines.push_back(line); });
  std::optional<Tuning> settled;
  LoaderTuner pace({4, 3}, roomy(), 0, [&](Tuning told) { settled = told; });
  pace.begin(0);
  for (int i = 0; i < 200; ++i)
    pace.batch(0, 32, 0);
  log::set_sink(before);
  ASSERT_GE(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("input: 4 workers, depth 3"));
  ASSERT_TRUE(settled);
  EXPECT_LE(settled->workers, 4);
}

TEST(TuningMemory, KeepsEachPipelineApart) {
  const TempFolder place;
  const auto file = place / "tuning.json";
  const TuningKey one{"m", "cifar10", 5, 64, 1};
  TuningKey other = one;
  other.batch = 128;
  EXPECT_EQ(load_tuning(file, one), std::nullopt);
  save_tuning(file, one, {3, 4});
  save_tuning(file, other, {5, 6});
  save_tuning(file, one, {7, 8});
  EXPECT_EQ(load_tuning(file, one), (Tuning{7, 8}));
  EXPECT_EQ(load_tuning(file, other), (Tuning{5, 6}));
  for (const auto change : std::initializer_list<void (*)(TuningKey&)>{
           [](TuningKey& key) { key.machine += "2"; },
           [](TuningKey& key) { key.source += "0"; },
           [](TuningKey& key) { ++key.content; },
           [](TuningKey& key) { ++key.augment_hash; },
           [](TuningKey& key) { ++key.sample_bytes; }}) {
    TuningKey changed = one;
    change(changed);
    EXPECT_EQ(load_tuning(file, changed), std::nullopt);
  }
}

TEST(TuningMemory, IgnoresAFileThatIsDamaged) {
  const TempFolder place;
  const auto file = place / "tuning.json";
  const TuningKey key{"m", "cifar10", 5, 64, 1};
  for (const auto& text :
       {std::string("{"),
        std::string("[1]"),
        cat("{\"", key.text(), "\": 3}"),
        cat("{\"", key.text(), "\": {\"workers\": 0, \"depth\": 1}}"),
        cat("{\"", key.text(), "\": {\"workers\": 1e9, \"depth\": 1}}")}) {
    write_bytes(file, text);
    EXPECT_EQ(load_tuning(file, key), std::nullopt) << text;
    save_tuning(file, key, {2, 2});
    EXPECT_EQ(load_tuning(file, key), (Tuning{2, 2}));
  }
}

TEST(TuningMemory, StaysSmall) {
  const TempFolder place;
  const auto file = place / "tuning.json";
  std::vector<std::string> entries;
  for (int i = 1; i < 130; ++i)
    entries.push_back(
        cat("\"",
            TuningKey{"m", "s", 5, i, 0}.text(),
            "\": {\"workers\": 1, \"depth\": 2}"));
  write_bytes(file, cat("{", join(entries, ","), "}"));
  EXPECT_EQ(load_tuning(file, {"m", "s", 5, 1, 0}), (Tuning{1, 2}));
  save_tuning(file, {"m", "other", 5, 1, 0}, {3, 4});
  EXPECT_EQ(load_tuning(file, {"m", "s", 5, 1, 0}), std::nullopt);
  EXPECT_EQ(load_tuning(file, {"m", "s", 5, 129, 0}), (Tuning{1, 2}));
}

} // namespace
} // namespace temper::data
