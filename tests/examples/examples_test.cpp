// The programs of examples/ as their readers run them: a train_step of one's
// own keeps the journal, the micro-batches, the checkpoints and the resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "temper/base/process.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/emulator.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::read_bytes;

ProcessResult run(const char* program, std::vector<std::string> arguments) {
  std::vector<std::string> line = tests::emulator_command();
  line.emplace_back(program);
  line.insert(line.end(), arguments.begin(), arguments.end());
  ProcessLimits limits;
  limits.time = std::chrono::seconds(120);
  return run_process(line, "", limits);
}

std::vector<journal::Event> events_of(
    const fs::path& run,
    const std::string& kind) {
  std::vector<journal::Event> chosen;
  for (auto& event : journal::read_journal(run / "journal.jsonl"))
    if (event.kind == kind) chosen.push_back(event);
  return chosen;
}

std::string final_state(const fs::path& run) {
  const std::string latest = read_bytes(run / "checkpoints/latest");
  return read_bytes(
      run / "checkpoints" / std::string(trim(latest)) / "state.safetensors");
}

TEST(Examples, each_fits_on_a_page) {
  for (const char* name : {"two_losses.cpp", "contrastive.cpp"}) {
    std::istringstream lines(
        read_bytes(tests::source_dir() / "examples" / name));
    int count = 0;
    for (std::string line; std::getline(lines, line);)
      ++count;
    EXPECT_GT(count, 20) << name;
    EXPECT_LE(count, 60) << name;
  }
}

TEST(Examples, two_losses_learns_with_metrics_of_its_own_in_micro_batches) {
  const tests::TempFolder folder;
  const auto result = run(TEMPER_TWO_LOSSES, {folder.text("run")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("agreement"));
  const auto epochs = events_of(folder / "run", "epoch");
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_LT(
      epochs[1].number("train_loss").value_or(NAN),
      epochs[0].number("train_loss").value_or(NAN));
  for (const char* name :
       {"train_agreement", "val_agreement", "val_accuracy"}) {
    const double value = epochs[1].number(name).value_or(NAN);
    EXPECT_GT(value, 0.3) << name;
    EXPECT_LE(value, 1) << name;
  }
  for (const auto& step : events_of(folder / "run", "step"))
    EXPECT_EQ(step.count("micro_batch"), 24);
}

TEST(Examples, contrastive_stopped_and_resumed_ends_with_the_same_weights) {
  const tests::TempFolder folder;
  const auto whole = run(TEMPER_CONTRASTIVE, {folder.text("whole")});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("matched"));
  const auto epochs = events_of(folder / "whole", "epoch");
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_GT(
      epochs[2].number("train_matched").value_or(NAN),
      epochs[0].number("train_matched").value_or(NAN));

  // In the middle of the second epoch.
  ASSERT_EQ(run(TEMPER_CONTRASTIVE, {folder.text("twice"), "13"}).code, 0);
  const auto ends = events_of(folder / "twice", "end");
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].text("status"), "stopped");
  // Asked after a batch of validation, too.
  EXPECT_EQ(ends[0].count("updates"), 12);
  ASSERT_EQ(run(TEMPER_CONTRASTIVE, {folder.text("twice")}).code, 0);
  EXPECT_EQ(events_of(folder / "twice", "resume").size(), 1U);
  const auto again = events_of(folder / "twice", "epoch");
  ASSERT_EQ(again.size(), 3U);
  for (const char* name : {"train_loss", "train_matched", "val_loss"})
    EXPECT_EQ(again[2].number(name), epochs[2].number(name)) << name;
  EXPECT_GT(final_state(folder / "whole").size(), 1000U);
  EXPECT_EQ(final_state(folder / "whole"), final_state(folder / "twice"));
}

} // namespace
} // namespace temper
