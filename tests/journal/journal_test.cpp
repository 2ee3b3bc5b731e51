#include "temper/journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include <cmath>
#include <fstream>
#include <sstream>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "tests/complaint.h"

namespace temper::journal {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
namespace fs = std::filesystem;

class JournalFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(::testing::TempDir()) /
        (std::string("journal-") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove(path_);
  }
  void TearDown() override {
    fs::remove(path_);
  }

  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void damage(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::app) << text;
  }

  fs::path path_;
};

Event step(std::int64_t number) {
  return {"step", 1.5, {{"step", number}, {"loss", 0.25}}};
}

TEST(JournalEvent, ItIsOneLineOfJsonInTheOrderGiven) {
  EXPECT_EQ(
      to_line(
          {"epoch",
           12.0625,
           {{"b", std::int64_t{3}},
            {"a", true},
            {"note", std::string("two\nlines")},
            {"plan", Json{"{\"x\":[1,2]}"}}}}),
      R"({"event":"epoch","time":12.063,"b":3,"a":true,)"
      R"("note":"two\nlines","plan":{"x":[1,2]}})");
}

TEST(JournalEvent, WhatGoesInComesOut) {
  Event event{
      "x",
      2,
      {{"whole", std::int64_t{1} << 60},
       {"real", 0.1},
       {"yes", false},
       {"text", std::string("\xC3\xBC")},
       {"json", Json{"[1]"}}}};
  const auto back = from_line(to_line(event));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->fields, event.fields);
  EXPECT_EQ(back->number("real"), 0.1);
  EXPECT_EQ(back->count("whole"), std::int64_t{1} << 60);
  EXPECT_EQ(back->flag("yes"), false);
  EXPECT_EQ(back->json("json"), "[1]");
  EXPECT_FALSE(back->number("none"));
  EXPECT_FALSE(back->count("real"));
}

TEST(JournalEvent, NumbersAreNeverHidden) {
  const auto back = from_line(to_line(
      {"step", 1, {{"a", std::nan("")}, {"b", HUGE_VAL}, {"c", -HUGE_VAL}}}));
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(*back->number("a")));
  EXPECT_EQ(back->number("b"), HUGE_VAL);
  EXPECT_EQ(back->number("c"), -HUGE_VAL);
}

TEST(JournalEvent, BytesThatAreNoTextDoNoHarm) {
  const auto back =
      from_line(to_line({"x", 1, {{"f", std::string("\xff.jpg")}}}));
  ASSERT_TRUE(back);
  EXPECT_THAT(*back->text("f"), EndsWith(".jpg"));
}

TEST(JournalEvent, WhatIsNoEventIsNothing) {
  for (const char* line :
       {"",
        "{",
        "[]",
        "3",
        "{}",
        R"({"event":1,"time":1})",
        R"({"event":"x"})",
        R"({"event":"x","time":"y"})"})
    EXPECT_FALSE(from_line(line)) << line;
}

TEST_F(JournalFile, EventsAreReadBackInOrder) {
  Journal journal(path_);
  journal.append(step(1));
  journal.append(step(2));
  journal.sync();
  EXPECT_EQ(journal.offset(), fs::file_size(path_));
  const auto events = read_journal(path_);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].count("step"), 2);
}

TEST_F(JournalFile, AnEventWithoutATimeGetsThePresentOne) {
  Journal journal(path_);
  journal.append({"x", 0, {}});
  EXPECT_GT(read_journal(path_).at(0).time_s, 1.7e9);
}

TEST_F(JournalFile, HalfALineLeftByACrashIsCutOff) {
  Journal(path_).append(step(1));
  damage(R"({"event":"st)");
  Journal journal(path_);
  journal.append(step(2));
  const auto events = read_journal(path_);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_THAT(
      contents(),
      HasSubstr("\n{\"event\":\"step\",\"time\":1.5,"
                "\"step\":2"));
}

TEST_F(JournalFile, AFileWithoutAnyWholeLineBeginsAnew) {
  damage(std::string(600'000, 'x'));
  Journal journal(path_);
  EXPECT_EQ(journal.offset(), 0U);
}

TEST_F(JournalFile, AFollowerSeesWhatIsNewAndWholeLinesOnly) {
  Journal journal(path_);
  Follower follower(path_);
  EXPECT_TRUE(follower.read().empty());
  journal.append(step(1));
  EXPECT_EQ(follower.read().size(), 1U);
  EXPECT_TRUE(follower.read().empty());
  damage(R"({"event":"half",)");
  EXPECT_TRUE(follower.read().empty());
  damage("\"time\":1}\nrubbish\n");
  EXPECT_EQ(follower.read().size(), 1U);
  EXPECT_EQ(follower.unreadable(), 1);
}

TEST_F(JournalFile, AFollowerGoesOnWhereAnotherStopped) {
  Journal journal(path_);
  for (int i = 0; i < 10; ++i)
    journal.append(step(i));
  Follower first(path_);
  EXPECT_EQ(first.read(4).size(), 4U);
  Follower second(path_, first.offset());
  const auto rest = second.read();
  ASSERT_EQ(rest.size(), 6U);
  EXPECT_EQ(rest[0].count("step"), 4);
}

TEST_F(JournalFile, AResumeDropsWhatCameAfterTheCheckpoint) {
  Journal journal(path_);
  journal.append(step(1));
  const auto kept = journal.offset();
  journal.append(step(2));
  journal.truncate(kept);
  journal.append(step(3));
  const auto events = read_journal(path_);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].count("step"), 3);
}

TEST_F(JournalFile, TheEndOfTheLineBeforeAPlaceIsFound) {
  Journal journal(path_);
  journal.append(step(1));
  const auto first = journal.offset();
  journal.append(step(2));
  EXPECT_EQ(journal.line_end(first), first);
  EXPECT_EQ(journal.line_end(first + 3), first);
  EXPECT_EQ(journal.line_end(first - 1), 0U);
  EXPECT_EQ(journal.line_end(1'000'000), journal.offset());
}

TEST_F(JournalFile, APlaceThatIsNoEndOfALineIsRefused) {
  Journal journal(path_);
  journal.append(step(1));
  EXPECT_THROW(journal.truncate(3), Error);
  EXPECT_THROW(journal.truncate(journal.offset() + 1), Error);
  EXPECT_EQ(read_journal(path_).size(), 1U);
}

// A limit of the process stands in for a full disk.
TEST_F(JournalFile, WhatAFullDiskDoesNotTakeIsWrittenLater) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  std::string said;
  const auto sink =
      log::set_sink([&](log::Level, const std::string& line) { said += line; });
  {
    Journal journal(path_);
    journal.append(step(1));
    const auto size = journal.offset();
    const struct rlimit full { size + 10, before.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &full);
    journal.append(step(2));
    journal.append(step(3));
    EXPECT_EQ(read_journal(path_).size(), 1U);
    EXPECT_EQ(std::filesystem::file_size(path_), size) << "no half line";
    EXPECT_GT(journal.offset(), size) << "where the next will begin";
    EXPECT_THAT(
        tests::complaint([&] { journal.sync(); }), HasSubstr("--resume"));
    ::setrlimit(RLIMIT_FSIZE, &before);
    journal.append(step(4));
    journal.sync();
    EXPECT_EQ(std::filesystem::file_size(path_), journal.offset());
  }
  const auto events = read_journal(path_);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[2].count("step"), 3);
  EXPECT_THAT(said, HasSubstr("kept in memory"));
  log::set_sink(sink);
  ::signal(SIGXFSZ, ignored);
}

TEST_F(JournalFile, AJournalThatCannotBeMadeSaysWhy) {
  try {
    Journal journal("/none/journal.jsonl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
}

} // namespace
} // namespace temper::journal
