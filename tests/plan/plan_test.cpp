#include "temper/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Plan example() {
  Plan plan;
  plan.device = {"cpu", "171 ms a step; mps: 359 ms"};
  plan.layout = {"channels_last", "171 ms a step; contiguous: 243 ms"};
  plan.threads = {"4", "as asked"};
  plan.precision = {"fp32", "the default"};
  plan.tried = {
      {{"cpu", Layout::channels_last, 4, Precision::fp32},
       0.171,
       0.04,
       TrialVerdict::chosen,
       "fastest"},
      {{"mps", Layout::contiguous, 4, Precision::fp32},
       0.359,
       0.25,
       TrialVerdict::slower,
       "2.10x"},
      {{"mps", Layout::contiguous, 4, Precision::fp16},
       std::nullopt,
       std::nullopt,
       TrialVerdict::no_memory,
       "out of memory"}};
  plan.ruled_out = {{"mps, channels_last", "wrong gradients"}};
  plan.warnings = {"careful"};
  plan.seconds = 7.5;
  plan.part = 0.5;
  plan.load = machine::Load{.others = 1.4, .cores = 2, .usable = 2};
  plan.load->average = 12.25;
  return plan;
}

std::string message(const std::string& text) {
  try {
    plan_from_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Setting, IsReadBackFromItsText) {
  for (const Setting& each :
       {Setting{"cuda:0", Layout::channels_last, 1, Precision::bf16},
        Setting{"cpu", Layout::contiguous, 12, Precision::fp32}})
    EXPECT_EQ(setting_from_text(to_text(each)), each);
  for (const char* text :
       {"",
        "cpu, contiguous, 2 threads",
        "cpu, contiguous, 0 threads, fp32",
        "cpu, contiguous, many threads, fp32",
        "cpu, contiguous, 99999999999 threads, fp32",
        "cpu, contiguous, 2 threads, fp32, more"})
    EXPECT_FALSE(setting_from_text(text)) << text;
}

TEST(Plan, WhatIsWrittenReadsBackTheSame) {
  Plan plan = example();
  EXPECT_EQ(plan_from_json(to_json(plan)), plan);
  for (const TrialVerdict verdict :
       {TrialVerdict::equal,
        TrialVerdict::rejected,
        TrialVerdict::failed,
        TrialVerdict::hung,
        TrialVerdict::skipped}) {
    plan.tried[1].verdict = verdict;
    EXPECT_EQ(plan_from_json(to_json(plan)), plan);
  }
  plan.remembered = true;
  EXPECT_EQ(plan_from_json(to_json(plan)), plan);
}

// Runs that were started then still go on.
TEST(Plan, OneOfTheFirstSchemaIsReadWithoutSpreadAndLoad) {
  auto json = nlohmann::ordered_json::parse(to_json(example()));
  json["schema"] = 1;
  json.erase("part");
  json.erase("load");
  for (auto& each : json["tried"])
    each.erase("spread");
  const Plan plan = plan_from_json(json.dump());
  EXPECT_EQ(plan.setting(), example().setting());
  EXPECT_FALSE(plan.load);
  EXPECT_FALSE(plan.tried[0].spread);
  EXPECT_EQ(plan.part, 1);
}

TEST(Plan, TheStartOfARunShowsEachChoiceByItsName) {
  Plan plan = example();
  plan.part = 1;
  plan.device.reason = "nothing else to choose from";
  plan.load = std::nullopt;
  using Rows = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(
      start_rows(plan, false),
      (Rows{
          {"plan",
           "cpu, channels_last, 4 threads, fp32; 171 ms a step, +-4 %; 2 "
           "settings measured in 7.5 s"},
          {"layout", "channels_last (171 ms a step; contiguous: 243 ms)"},
          {"precision", "fp32 (the default)"}}));
  EXPECT_EQ(start_rows(plan, true).size(), 6U);
  plan.load = machine::Load{.others = 1.4, .cores = 2, .usable = 2};
  const auto last = start_rows(plan, false).back();
  EXPECT_EQ(last.first, "load");
  EXPECT_THAT(last.second, HasSubstr("not remembered"));
}

TEST(Plan, TheSettingIsPutTogetherFromTheChoices) {
  EXPECT_EQ(
      example().setting(),
      (Setting{"cpu", Layout::channels_last, 4, Precision::fp32}));
}

TEST(Plan, WhatIsNotAPlanIsRefusedByName) {
  EXPECT_THAT(message("{"), HasSubstr("not JSON"));
  EXPECT_THAT(message("[]"), HasSubstr("not an object"));
  const auto changed = [](auto&& change) {
    auto json = nlohmann::ordered_json::parse(to_json(example()));
    change(json);
    return message(json.dump());
  };
  EXPECT_THAT(
      changed([](auto& json) { json["schema"] = 3; }),
      HasSubstr("schema is 3, not 2"));
  EXPECT_THAT(
      changed([](auto& json) { json["load"]["others"] = "many"; }),
      HasSubstr("load.others"));
  EXPECT_THAT(
      changed([](auto& json) { json.erase("layout"); }),
      HasSubstr("layout is missing"));
  EXPECT_THAT(
      changed([](auto& json) { json["device"]["value"] = 3; }),
      HasSubstr("device.value is not text"));
  EXPECT_THAT(
      changed([](auto& json) { json["threads"]["value"] = "many"; }),
      HasSubstr("threads.value"));
  EXPECT_THAT(
      changed([](auto& json) { json["layout"]["value"] = "upside_down"; }),
      HasSubstr("layout.value is \"upside_down\""));
  EXPECT_THAT(
      changed([](auto& json) { json["precision"]["value"] = "fp7"; }),
      HasSubstr("precision.value is \"fp7\""));
  EXPECT_THAT(
      changed([](auto& json) { json["tried"][0]["setting"]["layout"] = "x"; }),
      HasSubstr("tried[0].setting"));
  EXPECT_THAT(
      changed([](auto& json) { json["tried"][1]["verdict"] = "great"; }),
      AllOf(HasSubstr("tried[1].verdict"), HasSubstr("great")));
  EXPECT_THAT(
      changed([](auto& json) { json["tried"][0]["setting"]["threads"] = 0; }),
      HasSubstr("tried[0].setting.threads"));
  EXPECT_THAT(
      changed([](auto& json) { json["tried"][0]["step_s"] = -1; }),
      HasSubstr("tried[0].step_s"));
  EXPECT_THAT(
      changed([](auto& json) { json["more"] = 1; }),
      HasSubstr("keys that a plan has not"));
}

TEST(Plan, WhatALibrarySaidInOddBytesIsStillWritten) {
  Plan plan = example();
  plan.tried[2].why = "\xFF\xFE broken";
  EXPECT_NO_THROW(plan_from_json(to_json(plan)));
}

TEST(Plan, TheTextHasEveryChoiceItsReasonAndEveryTry) {
  const std::string text = to_text(example(), 100);
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("plan (2 settings measured in 7.5 s)"),
          HasSubstr("layout       channels_last  171 ms a step; contiguous"),
          HasSubstr("171 ms +-4 %"),
          HasSubstr("other programs are using the processor (1.4 of 2 cores"),
          HasSubstr("micro-batch"),
          HasSubstr("171 ms"),
          HasSubstr("no_memory"),
          HasSubstr("mps, channels_last  wrong gradients"),
          HasSubstr("warning: careful")));
  for (const std::string& line : split(text, '\n'))
    EXPECT_LE(line.size(), 100U) << line;
}

TEST(Plan, ARememberedOneSaysSo) {
  Plan plan = example();
  plan.remembered = true;
  EXPECT_THAT(to_text(plan), HasSubstr("remembered"));
}

TEST(Plan, StepTimesHaveThreeDigits) {
  EXPECT_EQ(step_text(0.1712), "171 ms");
  EXPECT_EQ(step_text(0.01234), "12.3 ms");
  EXPECT_EQ(step_text(0.00999), "9.99 ms");
  EXPECT_EQ(step_text(1.5), "1.50 s");
  EXPECT_EQ(step_text(0.9999), "1.00 s");
  EXPECT_EQ(step_text(0.0000421), "42.1 us");
}

TEST(Setting, SimplerIsATotalOrderFromTheReferenceUp) {
  const Setting reference;
  EXPECT_TRUE(is_reference(reference));
  EXPECT_FALSE(simpler(reference, reference));
  for (const Setting& other :
       {Setting{"mps", Layout::contiguous, 1, Precision::fp32},
        Setting{"cpu", Layout::channels_last, 1, Precision::fp32},
        Setting{"cpu", Layout::contiguous, 1, Precision::bf16}}) {
    EXPECT_FALSE(is_reference(other));
    EXPECT_TRUE(simpler(reference, other)) << to_text(other);
    EXPECT_FALSE(simpler(other, reference)) << to_text(other);
  }
  EXPECT_EQ(to_text(reference), "cpu, contiguous, 1 thread, fp32");
}

} // namespace
} // namespace temper::plan
