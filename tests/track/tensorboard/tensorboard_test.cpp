#include "temper/track/tensorboard/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/track/follow/journal_delivery.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"
#include "tests/track/tensorboard/event_file.h"

namespace temper::track {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::all;
using tests::as_double;
using tests::as_float;
using tests::one;

// Of 3 by 2 pixels, as far as a header says so.
std::string small_png() {
  std::string png = "\x89PNG\r\n\x1a\n";
  png += std::string("\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02", 16);
  return png + std::string("\x08\x02\0\0\0", 5);
}

class TensorBoardTest : public testing::Test {
 protected:
  journal::RunDirectory written(const std::vector<journal::Event>& events) {
    const auto run = made_run(folder_.path() / "runs", "a");
    journal::Journal journal(run.journal());
    journal.append(run_event());
    for (const auto& event : events)
      journal.append(event);
    return run;
  }
  void deliver(const journal::RunDirectory& run) {
    TensorBoard tracker(logs_);
    JournalDelivery follow(run, tracker, "x");
    while (follow.pump()) {
    }
  }
  std::filesystem::path file() const {
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::directory_iterator(logs_)) {
      EXPECT_TRUE(found.empty()) << "more than one file";
      found = entry.path();
    }
    return found;
  }
  std::vector<std::string> records() const {
    return tests::records_of(tests::read_bytes(file()));
  }
  // The events that have a value of this tag.
  std::vector<std::string> with_tag(const std::string& tag) const {
    std::vector<std::string> found;
    for (const std::string& event : records()) {
      const std::string value = one(one(event, 5).bytes, 1).bytes;
      if (!value.empty() && one(value, 1).bytes == tag) found.push_back(event);
    }
    return found;
  }
  static std::string value(const std::string& event) {
    return one(one(event, 5).bytes, 1).bytes;
  }
  static std::string plugin(const std::string& event) {
    return one(one(one(value(event), 9).bytes, 1).bytes, 1).bytes;
  }

  tests::TempFolder folder_;
  std::filesystem::path logs_ = folder_.path() / "logs/a";
};

TEST_F(TensorBoardTest, TheFileBeginsAsReadersExpect) {
  deliver(written({}));
  EXPECT_THAT(
      file().filename().string(),
      testing::StartsWith("events.out.tfevents.1700000000."));
  const auto events = records();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(one(events[0], 3).bytes, "brain.Event:2");
  EXPECT_DOUBLE_EQ(as_double(one(events[0], 1)), 1'700'000'000.5);
}

TEST_F(TensorBoardTest, MetricsAreScalarsWithStepAndTime) {
  deliver(written(
      {step_event(1, 0.5), step_event(2, std::nan("")), epoch_event(2, 0.75)}));
  const auto events = with_tag("loss");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(as_float(one(value(events[0]), 2)), 0.5F);
  EXPECT_EQ(one(events[0], 2).bits, 1U);
  EXPECT_DOUBLE_EQ(as_double(one(events[0], 1)), 1'700'000'002.0);
  EXPECT_TRUE(std::isnan(as_float(one(value(events[1]), 2))));
  EXPECT_EQ(as_float(one(value(with_tag("val_loss").at(0)), 2)), 0.75F);
}

TEST_F(TensorBoardTest, PicturesAmongTheArtifactsAreImages) {
  const auto run = written(
      {{"artifact",
        1'700'000'900,
        {{"path", std::string("artifacts/confusion_matrix.png")},
         {"name", std::string("confusion_matrix.png")},
         {"update", std::int64_t{40}}}}});
  tests::write_bytes(run.artifacts() / "confusion_matrix.png", small_png());
  deliver(run);
  const auto events = with_tag("confusion_matrix");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(plugin(events[0]), "images");
  EXPECT_EQ(one(one(value(events[0]), 9).bytes, 4).bits, 3U); // data class
  const std::string tensor = one(value(events[0]), 8).bytes;
  EXPECT_EQ(one(tensor, 1).bits, 7U); // DT_STRING
  const auto strings = all(tensor, 8);
  ASSERT_EQ(strings.size(), 3U);
  EXPECT_EQ(strings[0].bytes, "3");
  EXPECT_EQ(strings[1].bytes, "2");
  EXPECT_EQ(strings[2].bytes, small_png());
  EXPECT_EQ(one(one(one(tensor, 2).bytes, 2).bytes, 1).bits, 3U); // shape
  EXPECT_EQ(one(events[0], 2).bits, 40U);
}

TEST_F(TensorBoardTest, IncidentsAndTheConfigAreTexts) {
  deliver(written(
      {{"incident",
        1'700'000'300,
        {{"what", std::string("overflow")},
         {"why", std::string("fp16")},
         {"update", std::int64_t{7}}}}}));
  const auto incidents = with_tag("incidents");
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_EQ(plugin(incidents[0]), "text");
  EXPECT_THAT(
      one(one(value(incidents[0]), 8).bytes, 8).bytes,
      HasSubstr("update 7, overflow: fp16"));
  EXPECT_THAT(
      one(one(value(with_tag("config").at(0)), 8).bytes, 8).bytes,
      HasSubstr("seed = 7"));
}

TEST_F(TensorBoardTest, SettingsAreHparams) {
  deliver(written({end_event("done")}));
  const auto start = with_tag("_hparams_/session_start_info");
  ASSERT_EQ(start.size(), 1U);
  EXPECT_EQ(plugin(start[0]), "hparams");
  const std::string content =
      one(one(one(value(start[0]), 9).bytes, 1).bytes, 2).bytes;
  std::map<std::string, std::string> settings;
  for (const auto& entry : all(one(content, 3).bytes, 1))
    settings[one(entry.bytes, 1).bytes] = one(entry.bytes, 2).bytes;
  EXPECT_EQ(as_double(one(settings.at("train.batch"), 2)), 64);
  EXPECT_EQ(one(settings.at("optimizer.name"), 3).bytes, "adamw");
  // Required shape [0] of an empty float tensor.
  const std::string tensor = one(value(start[0]), 8).bytes;
  EXPECT_EQ(one(tensor, 1).bits, 1U);
  EXPECT_EQ(one(one(one(tensor, 2).bytes, 2).bytes, 1).bits, 0U);
  const auto end = with_tag("_hparams_/session_end_info");
  ASSERT_EQ(end.size(), 1U);
  const std::string ending =
      one(one(one(one(value(end[0]), 9).bytes, 1).bytes, 2).bytes, 4).bytes;
  EXPECT_EQ(one(ending, 1).bits, 1U);
  EXPECT_EQ(with_tag("_hparams_/experiment").size(), 1U);
}

TEST_F(TensorBoardTest, HistogramsOfCheckpointsAreThereWhenAskedFor) {
  const auto run = written(
      {{"checkpoint",
        1'700'000'300,
        {{"update", std::int64_t{20}}, {"best", true}}},
       {"checkpoint",
        1'700'000'400,
        {{"update", std::int64_t{30}}, {"best", false}}}});
  // That of update 30 is gone already.
  std::filesystem::create_directories(run.checkpoints() / "step-20");
  TensorBoard tracker(logs_, [](const std::filesystem::path& folder) {
    EXPECT_EQ(folder.filename(), "step-20");
    return std::vector<Histogram>{{"weights/w", {{-1, 0, 3}, {0, 1, 5}}, 0, 0}};
  });
  JournalDelivery follow(run, tracker, "x");
  while (follow.pump()) {
  }
  const auto events = with_tag("weights/w");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(one(events[0], 2).bits, 20U);
  EXPECT_EQ(plugin(events[0]), "histograms");
  const std::string tensor = one(value(events[0]), 8).bytes;
  EXPECT_EQ(one(tensor, 1).bits, 2U); // DT_DOUBLE
  const auto sizes = all(one(tensor, 2).bytes, 2);
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(one(sizes[0].bytes, 1).bits, 2U);
  EXPECT_EQ(one(sizes[1].bytes, 1).bits, 3U);
  std::vector<double> numbers(6);
  const std::string content = one(tensor, 4).bytes;
  ASSERT_EQ(content.size(), 6 * sizeof(double));
  std::memcpy(numbers.data(), content.data(), content.size());
  EXPECT_THAT(numbers, ElementsAre(-1, 0, 3, 0, 1, 5));
}

TEST_F(TensorBoardTest, GradientsOfTheJournalAreHistogramsOnce) {
  const journal::Event gradients{
      "gradients",
      1'700'000'300,
      {{"update", std::int64_t{20}},
       {"histograms",
        journal::Json{R"({"head.bias":{"low":-1,"high":1,"counts":[3,5]},)"
                      R"("other":{"low":"x"}})"}}}};
  const auto run = written({gradients});
  const auto deliver = [&] {
    TensorBoard tracker(logs_, {});
    JournalDelivery follow(run, tracker, "x");
    while (follow.pump()) {
    }
  };
  deliver();
  EXPECT_THAT(with_tag("gradients/other"), testing::IsEmpty());
  const auto events = with_tag("gradients/head.bias");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(one(events[0], 2).bits, 20U);
  EXPECT_EQ(plugin(events[0]), "histograms");
  std::vector<double> numbers(6);
  const std::string content = one(one(value(events[0]), 8).bytes, 4).bytes;
  ASSERT_EQ(content.size(), 6 * sizeof(double));
  std::memcpy(numbers.data(), content.data(), content.size());
  EXPECT_THAT(numbers, ElementsAre(-1, 0, 3, 0, 1, 5));
  {
    // A resume cuts the journal, and gets to the same update again.
    journal::Journal journal(run.journal());
    journal.truncate(0);
    journal.append(run_event());
    journal.append({"resume", 1'700'000'400, {{"update", std::int64_t{10}}}});
    journal.append(gradients);
  }
  deliver();
  EXPECT_EQ(with_tag("gradients/head.bias").size(), 1U);
}

TEST_F(TensorBoardTest, TheNextSessionGoesOnInTheSameFile) {
  const auto run = written({step_event(1, 0.5)});
  deliver(run);
  journal::Journal(run.journal()).append(step_event(2, 0.25));
  deliver(run);
  EXPECT_EQ(with_tag("loss").size(), 2U);
}

TEST_F(TensorBoardTest, WhatACrashLeftBehindIsWrittenOver) {
  const auto run = written({step_event(1, 0.5)});
  deliver(run);
  const auto memory = tests::read_bytes(run.path / "track-x.json");
  journal::Journal(run.journal()).append(step_event(2, 0.25));
  deliver(run);
  tests::write_bytes(run.path / "track-x.json", memory);
  journal::Journal(run.journal()).append(step_event(3, 0.125));
  deliver(run);
  EXPECT_EQ(with_tag("loss").size(), 3U);
}

} // namespace
} // namespace temper::track
