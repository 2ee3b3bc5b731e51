#include "temper/journal/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/journal/restart_log.h"
#include "temper/journal/thinned.h"
#include "tests/temp_folder.h"

namespace temper::journal {
namespace {

using nlohmann::json;
using testing::ElementsAre;

constexpr double kBegin_s = 1'700'000'000;

TEST(Thinned, KeepsAllThenEverySecondAndAlwaysTheNewest) {
  for (const int count : {1, 8, 9, 16, 17, 1000, 1024, 1025}) {
    Thinned<int> some(8);
    for (int i = 0; i < count; ++i)
      some.add(i);
    EXPECT_EQ(some.seen(), static_cast<std::size_t>(count));
    EXPECT_EQ(some.all(), count <= 8);
    const auto kept = some.take();
    EXPECT_LE(kept.size(), 9U) << count;
    EXPECT_GE(kept.size(), std::min<std::size_t>(count, 4)) << count;
    EXPECT_EQ(kept.front(), 0);
    EXPECT_EQ(kept.back(), count - 1);
    for (std::size_t i = 2; i + 1 < kept.size(); ++i)
      EXPECT_EQ(kept[i] - kept[i - 1], kept[1]) << count;
  }
}

class TraceTest : public testing::Test {
 protected:
  void add(
      const std::string& kind,
      double at_s,
      std::vector<std::pair<std::string, Value>> fields) {
    Journal(run_.journal()).append({kind, kBegin_s + at_s, std::move(fields)});
  }
  void begin(double at_s, double prepare_s) {
    add("run", at_s, {{"name", std::string("r")}, {"prepare_s", prepare_s}});
  }
  void
  epoch(std::int64_t number, double at_s, double seconds, double validation_s) {
    add("epoch",
        at_s,
        {{"epoch", number},
         {"seconds", seconds},
         {"train_loss", std::nan("")},
         {"validation_s", validation_s}});
  }
  json traced() const {
    return json::parse(trace_json(run_));
  }
  // Those of one kind of event, in the file's order.
  static std::vector<json> of(const json& trace, const std::string& ph) {
    std::vector<json> found;
    for (const json& event : trace.at("traceEvents"))
      if (event.at("ph") == ph) found.push_back(event);
    return found;
  }
  static json named(const json& trace, const std::string& name) {
    for (const json& event : trace.at("traceEvents"))
      if (event.at("name") == name) return event;
    return nullptr;
  }
  // Two spans of one thread either are apart or one is in the other.
  static void expect_nested(const json& trace) {
    const auto spans = of(trace, "X");
    const auto begin = [](const json& e) { return e.at("ts").get<double>(); };
    const auto end = [&](const json& e) {
      return begin(e) + e.at("dur").get<double>();
    };
    for (const json& a : spans) {
      EXPECT_GE(begin(a), 0) << a;
      EXPECT_GE(a.at("dur").get<double>(), 0) << a;
      for (const json& b : spans) {
        const bool apart = end(a) <= begin(b) || end(b) <= begin(a);
        const bool inside = (begin(a) >= begin(b) && end(a) <= end(b)) ||
            (begin(b) >= begin(a) && end(b) <= end(a));
        EXPECT_TRUE(apart || inside) << a << "\n" << b;
      }
    }
  }

  tests::TempFolder folder_;
  RunDirectory run_{folder_.path()};
};

TEST_F(TraceTest, ARunIsSpansWithinSpans) {
  begin(10, 4);
  epoch(0, 20, 8, 1.5);
  add("checkpoint", 21, {{"update", std::int64_t{5}}, {"seconds", 0.25}});
  epoch(1, 30, 7.5, 1.25);
  const json trace = traced();
  expect_nested(trace);
  const auto times = [&](const char* name) {
    const json event = named(trace, name);
    return std::vector<std::int64_t>{event.at("ts"), event.at("dur")};
  };
  EXPECT_THAT(times("session 1"), ElementsAre(0, 24'000'000));
  EXPECT_THAT(times("preparing"), ElementsAre(0, 4'000'000));
  EXPECT_THAT(times("epoch 1"), ElementsAre(4'500'000, 9'500'000));
  EXPECT_THAT(times("epoch 2"), ElementsAre(15'250'000, 8'750'000));
  EXPECT_THAT(times("validation"), ElementsAre(12'500'000, 1'500'000));
  EXPECT_EQ(of(trace, "X").size(), 6U);
  EXPECT_EQ(named(trace, "epoch 1").at("args").at("train_loss"), "NaN");
  const auto begins = of(trace, "b");
  const auto ends = of(trace, "e");
  ASSERT_EQ(begins.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(begins[0].at("id"), ends[0].at("id"));
  EXPECT_EQ(begins[0].at("ts"), 14'750'000);
  EXPECT_EQ(ends[0].at("ts"), 15'000'000);
  EXPECT_EQ(trace.at("otherData").at("begin_s"), kBegin_s + 6);
  EXPECT_EQ(trace.at("otherData").at("complete"), true);
}

// A span that the journal does not hold is not made up.
TEST_F(TraceTest, AnUnfinishedEpochHasNoSpanAndOldJournalsNoGuess) {
  add("run", 0, {});
  add("step", 5, {{"step", std::int64_t{1}}, {"samples_per_s", 10.0}});
  const json trace = traced();
  EXPECT_EQ(of(trace, "X").size(), 1U);
  EXPECT_EQ(named(trace, "session 1").at("dur"), 5'000'000);
  EXPECT_EQ(of(trace, "C").size(), 1U);
}

TEST_F(TraceTest, WhatWentWrongIsAMarkAndARestartASession) {
  begin(1, 1);
  add("retry", 3, {{"what", std::string("step")}, {"why", std::string("oom")}});
  add("incident",
      4,
      {{"what", std::string("not finite")}, {"then", std::string("skip")}});
  set_aside(run_, {"death", kBegin_s + 9, {{"why", std::string("SIGKILL")}}});
  add("resume", 20, {{"update", std::int64_t{7}}, {"prepare_s", 2.0}});
  // It died before, and is told by the session after.
  add("death",
      9,
      {{"number", std::int64_t{1}}, {"why", std::string("SIGKILL")}});
  epoch(0, 30, 9, 0);
  // Dead again, and nobody has resumed it yet.
  set_aside(run_, {"hang", kBegin_s + 31, {{"why", std::string("\xff")}}});
  set_aside(run_, {"death", kBegin_s + 40, {{"why", std::string("SIGSEGV")}}});
  const json trace = traced();
  expect_nested(trace);
  std::vector<std::string> names;
  std::vector<std::int64_t> at;
  for (const json& event : of(trace, "i")) {
    names.push_back(event.at("name"));
    at.push_back(event.at("ts"));
  }
  EXPECT_THAT(
      names,
      ElementsAre(
          "retry: step", "incident: not finite", "death", "hang", "death"));
  EXPECT_THAT(
      at, ElementsAre(3'000'000, 4'000'000, 9'000'000, 31'000'000, 40'000'000));
  EXPECT_EQ(named(trace, "session 1").at("dur"), 4'000'000);
  EXPECT_EQ(named(trace, "session 2").at("ts"), 18'000'000);
  EXPECT_EQ(named(trace, "session 2").at("args").at("after_update"), 7);
}

TEST_F(TraceTest, AClockThatWasSetLeavesNoSpansThatCross) {
  begin(100, 5);
  epoch(0, 110, 9, 2);
  epoch(1, 60, 9, 2); // an hour back, so to speak
  epoch(2, 112, 500, 2); // longer than there was time for
  add("resume", 50, {{"update", std::int64_t{3}}, {"prepare_s", 1e300}});
  epoch(3, 1e300, 9, 2);
  epoch(4, 200, std::nan(""), -1);
  expect_nested(traced());
}

TEST_F(TraceTest, NumbersThatAreNoneAreInNoCurve) {
  begin(1, 0);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 5.0})
    add("step",
        2,
        {{"step", std::int64_t{1}},
         {"samples_per_s", bad},
         {"wait", 0.5},
         {"memory_bytes", std::int64_t{1} << 40}});
  const json trace = traced();
  std::vector<double> speeds;
  for (const json& event : of(trace, "C"))
    if (event.at("name") == "samples/s")
      speeds.push_back(event.at("args").at("value"));
  EXPECT_THAT(speeds, ElementsAre(5.0));
  EXPECT_EQ(of(trace, "C").size(), 9U);
}

// Journals are of any length; what people open is not.
TEST_F(TraceTest, ItStaysSmallAndSaysThatItIsThinned) {
  {
    Journal journal(run_.journal());
    journal.append({"run", kBegin_s, {{"prepare_s", 1.0}}});
    for (std::int64_t i = 1; i <= 20'000; ++i) {
      const double at_s = kBegin_s + static_cast<double>(i);
      journal.append(
          {"step",
           at_s,
           {{"step", i},
            {"samples_per_s", 1234.5678901234},
            {"wait", 0.123456789},
            {"memory_bytes", i << 30}}});
      if (i % 2 == 0)
        journal.append(
            {"epoch",
             at_s,
             {{"epoch", i / 2}, {"seconds", 1.5}, {"validation_s", 0.5}}});
      if (i % 8 == 0)
        journal.append(
            {"incident",
             at_s,
             {{"what", std::string("overflow")},
              {"why", std::string(500, 'x')}}});
    }
  }
  const std::string text = trace_json(run_);
  EXPECT_LT(text.size(), 8U << 20);
  const json trace = json::parse(text);
  EXPECT_EQ(trace.at("otherData").at("complete"), false);
  EXPECT_EQ(trace.at("otherData").at("epochs"), 10'000);
  EXPECT_EQ(trace.at("otherData").at("points"), 60'000);
  EXPECT_LE(of(trace, "C").size(), 3 * (kMostPoints + 1));
  EXPECT_GE(of(trace, "C").size(), 3 * kMostPoints / 2);
  EXPECT_EQ(of(trace, "C").back().at("ts"), 20'001'000'000);
  EXPECT_LE(of(trace, "i").size(), kMostMarks + 1);
}

TEST_F(TraceTest, OneOfAnEndedRunStaysAndOthersAreMadeAnew) {
  begin(1, 0);
  const auto file = run_.artifacts() / "trace.json";
  refresh_trace(run_);
  EXPECT_THAT(tests::read_bytes(file), testing::HasSubstr("session 1"));
  tests::write_bytes(file, "old");
  refresh_trace(run_); // nobody said that the run is over
  EXPECT_NE(tests::read_bytes(file), "old");
  add("end",
      2,
      {{"status", std::string("done")},
       {"confusion",
        Json{"[" + join(std::vector<std::string>(100'000, "1"), ",") + "]"}}});
  tests::write_bytes(file, "its own");
  refresh_trace(run_);
  EXPECT_EQ(tests::read_bytes(file), "its own");
}

} // namespace
} // namespace temper::journal
