// The programs of examples/ as their readers run them: a train_step of one's
// own keeps the journal, the micro-batches, the checkpoints and the resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "temper/base/process/process.h"
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
  std::vector<std::string> line = tests::before_program();
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

TEST(Examples, EachFitsOnAPage) {
  for (const char* name :
       {"own_loss.cpp",
        "vae.cpp",
        "own_source.cpp",
        "two_losses.cpp",
        "contrastive.cpp",
        "own_network.cpp"}) {
    std::istringstream lines(
        read_bytes(tests::source_dir() / "examples" / name));
    int count = 0;
    for (std::string line; std::getline(lines, line);)
      ++count;
    EXPECT_GT(count, 20) << name;
    EXPECT_LT(count, 100) << name;
  }
}

TEST(Examples, TwoLossesLearnsWithMetricsOfItsOwnInMicroBatches) {
  const tests::TempFolder folder;
  const auto result = run(TEMPER_TWO_LOSSES, {folder.text("runs/a")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("agreement"));
  const auto epochs = events_of(folder / "runs/a", "epoch");
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
  for (const auto& step : events_of(folder / "runs/a", "step"))
    EXPECT_EQ(step.count("micro_batch"), 24);
}

TEST(Examples, OwnLossLearnsIsTrackedAndLeavesItsModel) {
  const tests::TempFolder folder;
  const auto result = run(TEMPER_OWN_LOSS, {folder.text("runs/a")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("accuracy"));
  const auto epochs = events_of(folder / "runs/a", "epoch");
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_LT(
      epochs[1].number("train_loss").value_or(NAN),
      epochs[0].number("train_loss").value_or(NAN));
  EXPECT_GT(epochs[1].number("val_accuracy").value_or(NAN), 0.3);
  EXPECT_TRUE(fs::exists(folder / "mlflow.db")); // beside runs/
  EXPECT_TRUE(fs::exists(folder / "runs/a/artifacts/model/model.pt2"));
  EXPECT_TRUE(fs::exists(folder / "runs/a/artifacts/curves.png"));
}

TEST(Examples, VaeOptimisesTwoLossesAndResumesToTheSameWeights) {
  const tests::TempFolder folder;
  const auto whole = run(TEMPER_VAE, {folder.text("runs/whole")});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto epochs = events_of(folder / "runs/whole", "epoch");
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_LT(
      epochs[2].number("train_reconstruction").value_or(NAN),
      epochs[0].number("train_reconstruction").value_or(NAN));
  EXPECT_GT(epochs[2].number("val_divergence").value_or(NAN), 0);
  EXPECT_NEAR(
      epochs[2].number("train_loss").value_or(NAN),
      epochs[2].number("train_reconstruction").value_or(NAN) +
          epochs[2].number("train_divergence").value_or(NAN),
      1e-3 * epochs[2].number("train_loss").value_or(NAN));
  for (const auto& step : events_of(folder / "runs/whole", "step"))
    EXPECT_EQ(step.count("micro_batch"), 24);

  const auto stopped = run(TEMPER_VAE, {folder.text("runs/twice"), "7"});
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  ASSERT_EQ(run(TEMPER_VAE, {folder.text("runs/twice")}).code, 0);
  EXPECT_EQ(events_of(folder / "runs/twice", "resume").size(), 1U);
  EXPECT_GT(final_state(folder / "runs/whole").size(), 1000U);
  EXPECT_EQ(
      final_state(folder / "runs/whole"), final_state(folder / "runs/twice"));
}

TEST(Examples, OwnSourceIsToldApartUnderAParentOfItsOwn) {
  const tests::TempFolder folder;
  const auto result = run(TEMPER_OWN_SOURCE, {folder.text("runs/a")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("accuracy"));
  const auto epochs = events_of(folder / "runs/a", "epoch");
  ASSERT_EQ(epochs.size(), 20U);
  EXPECT_GT(epochs[19].number("val_accuracy").value_or(NAN), 0.9);
  EXPECT_THAT(
      read_bytes(folder / "runs/a/config.toml"), HasSubstr("own:spirals"));
  EXPECT_TRUE(fs::exists(folder / "mlflow.db"));
  EXPECT_THAT(
      read_bytes(folder / "runs/a/schema.json"), HasSubstr("\"other\""));
}

TEST(Examples, OwnNetworkOnFusedModulesLearns) {
  const tests::TempFolder folder;
  const auto result = run(TEMPER_OWN_NETWORK, {folder.text("runs/a")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("accuracy"));
  const auto epochs = events_of(folder / "runs/a", "epoch");
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_GT(epochs[2].number("val_accuracy").value_or(NAN), 0.5);
  const std::string state = final_state(folder / "runs/a");
  for (const char* name : {"stem.0.weight", "down.conv.0.0.weight"})
    EXPECT_THAT(state, HasSubstr(name));
}

TEST(Examples, ContrastiveStoppedAndResumedEndsWithTheSameWeights) {
  const tests::TempFolder folder;
  const auto whole = run(TEMPER_CONTRASTIVE, {folder.text("runs/whole")});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("matched"));
  const auto epochs = events_of(folder / "runs/whole", "epoch");
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_GT(
      epochs[2].number("train_matched").value_or(NAN),
      epochs[0].number("train_matched").value_or(NAN));

  // In the middle of the second epoch.
  ASSERT_EQ(run(TEMPER_CONTRASTIVE, {folder.text("runs/twice"), "13"}).code, 0);
  const auto ends = events_of(folder / "runs/twice", "end");
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].text("status"), "stopped");
  // Asked after a batch of validation, too.
  EXPECT_EQ(ends[0].count("updates"), 12);
  ASSERT_EQ(run(TEMPER_CONTRASTIVE, {folder.text("runs/twice")}).code, 0);
  EXPECT_EQ(events_of(folder / "runs/twice", "resume").size(), 1U);
  const auto again = events_of(folder / "runs/twice", "epoch");
  ASSERT_EQ(again.size(), 3U);
  for (const char* name : {"train_loss", "train_matched", "val_loss"})
    EXPECT_EQ(again[2].number(name), epochs[2].number(name)) << name;
  EXPECT_GT(final_state(folder / "runs/whole").size(), 1000U);
  EXPECT_EQ(
      final_state(folder / "runs/whole"), final_state(folder / "runs/twice"));
}

} // namespace
} // namespace temper
