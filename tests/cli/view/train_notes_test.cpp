#include "temper/cli/view/train_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::cli {
namespace {

using journal::Event;
using testing::HasSubstr;

Event bad_batch(const char* then) {
  return {
      "incident",
      0,
      {{"what", std::string("not finite")},
       {"why", std::string("[train] the loss became nan in update 1201.")},
       {"update", std::int64_t{1200}},
       {"samples", journal::Json{"[4,17,9]"}},
       {"then", std::string(then)}}};
}

TEST(TrainNotes, ABadBatchIsNamedWithItsSamplesAndWhatIsDone) {
  EXPECT_EQ(
      note_text(bad_batch("skip")),
      "[train] the loss became nan in update 1201: the batch is passed over. "
      "Samples of the batch: 4, 17, 9.");
  EXPECT_THAT(
      note_text(bad_batch("rollback")),
      HasSubstr(": the run goes back to a good state."));
  EXPECT_THAT(note_text(bad_batch("stop")), HasSubstr(": the run stops."));
}

TEST(TrainNotes, TheSampleThatSpoilsABatchIsNamedInsteadOfAll) {
  Event event = bad_batch("skip");
  event.fields.emplace_back(
      "cause", std::string("x.npy[17] cannot be used: input 3 of 8 is NaN."));
  EXPECT_EQ(
      note_text(event),
      "[train] the loss became nan in update 1201: the batch is passed over. "
      "x.npy[17] cannot be used: input 3 of 8 is NaN.");
}

TEST(TrainNotes, WhatWasChangedIsSaid) {
  EXPECT_EQ(
      note_text(
          {"rollback", 0, {{"to", std::int64_t{40}}, {"lr_factor", 0.5}}}),
      "the run went back to update 40, and learns at 50 % of its rate.");
  for (const char* kind : {"retry", "micro_batch"})
    EXPECT_EQ(
        note_text(
            {kind,
             0,
             {{"update", std::int64_t{7}},
              {"why", std::string("out of memory: 8 instead of 16")}}}),
        "out of memory: 8 instead of 16 (after update 7).");
  EXPECT_EQ(
      note_text({"leak", 0, {{"why", std::string("memory grows")}}}),
      "memory grows.");
}

TEST(TrainNotes, WhatGotBetterIsNoWarning) {
  const auto sizes = [](std::int64_t from, std::int64_t to) {
    return Event{"micro_batch", 0, {{"from", from}, {"to", to}}};
  };
  EXPECT_TRUE(is_good_news(sizes(8, 16)));
  EXPECT_FALSE(is_good_news(sizes(16, 8)));
  EXPECT_TRUE(
      is_good_news({"incident", 0, {{"what", std::string("as fast again")}}}));
  EXPECT_FALSE(is_good_news(bad_batch("skip")));
}

TEST(TrainNotes, EverydayEventsAreNot) {
  EXPECT_EQ(note_text({"step", 0, {}}), "");
  EXPECT_EQ(
      note_text({"incident", 0, {{"what", std::string("overflow")}}}), "");
}

TEST(TrainNotes, ManyOfAKindAreLeftToTheJournal) {
  TrainNotes notes;
  EXPECT_EQ(notes.see(bad_batch("skip")), note_text(bad_batch("skip")));
  notes.see(bad_batch("skip"));
  EXPECT_THAT(
      notes.see(bad_batch("skip")),
      HasSubstr("Further ones are in the journal only."));
  EXPECT_EQ(notes.see(bad_batch("skip")), "");
  EXPECT_NE(notes.see({"rollback", 0, {}}), "") << "another kind";
}

} // namespace
} // namespace temper::cli
