#include "temper/data/inspect/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "temper/data/inspect/check_report.h"
#include "tests/data/picture_source.h"
#include "tests/data/rows_source.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Source = std::shared_ptr<PictureSource>;

// Samples that all differ, labels 0 and 1 in turn.
Source shared_pictures(int count, int first_value = 0) {
  std::vector<Picture> list;
  for (int i = 0; i < count; ++i) {
    Picture picture;
    picture.value = first_value + i % 200;
    picture.width = 4 + i / 200;
    picture.label = i % 2;
    list.push_back(picture);
  }
  return std::make_shared<PictureSource>(
      list, std::vector<std::string>{"cat", "dog"});
}

TEST(Check, GoodDataHaveNoProblems) {
  const auto report = check_data({shared_pictures(101), nullptr}, {});
  EXPECT_FALSE(report.has_problems());
  ASSERT_EQ(report.parts.size(), 1U);
  EXPECT_EQ(report.parts[0].samples, 101);
  EXPECT_THAT(report.parts[0].class_counts, ElementsAre(51, 50));
  EXPECT_THAT(
      report.parts[0].sizes, ElementsAre(testing::Pair("4 x 4 RGB", 101)));
  EXPECT_EQ(report.duplicate_samples, 0);
}

TEST(Check, BadSamplesAreAllCountedAndTheFirstOnesNamed) {
  for (const int workers : {1, 3}) {
    const auto source = shared_pictures(1000);
    for (std::int64_t i = 990; i >= 0; i -= 10)
      source->bad.insert(i);
    CheckOptions options;
    options.workers = workers;
    options.named = 3;
    const auto report = check_data({source, nullptr}, options);
    EXPECT_TRUE(report.has_problems());
    EXPECT_EQ(report.bad(), 100);
    EXPECT_EQ(report.parts[0].samples, 1000);
    EXPECT_THAT(
        report.bad_samples,
        ElementsAre(
            HasSubstr("picture 0 "),
            HasSubstr("picture 10 "),
            HasSubstr("picture 20 ")));
  }
}

TEST(Check, ALabelWithoutAClassIsBad) {
  const auto source = std::make_shared<PictureSource>(
      std::vector<Picture>{{4, 4, 3, 0, 2}, {4, 4, 3, 1, -1}},
      std::vector<std::string>{"cat", "dog"});
  const auto report = check_data({source, nullptr}, {});
  EXPECT_EQ(report.bad(), 2);
  EXPECT_THAT(report.bad_samples[0], HasSubstr("label 2"));
}

TEST(Check, SizesModesAndWarningsAreCounted) {
  const auto source = std::make_shared<PictureSource>(
      std::vector<Picture>{
          {4, 4, 3, 0, 0}, {4, 4, 1, 0, 0}, {9, 5, 3, 0, 0}, {4, 4, 3, 7, 0}},
      std::vector<std::string>{"cat"});
  source->warnings = 2;
  const auto report = check_data({source, nullptr}, {});
  EXPECT_THAT(
      report.parts[0].sizes,
      ElementsAre(
          testing::Pair("4 x 4 RGB", 2),
          testing::Pair("4 x 4 grey", 1),
          testing::Pair("9 x 5 RGB", 1)));
  EXPECT_EQ(report.parts[0].decoder_warnings, 8);
}

TEST(Check, EqualPixelsOfAnotherShapeAreNoDuplicates) {
  const auto source = std::make_shared<PictureSource>(
      std::vector<Picture>{{2, 8, 3, 0, 0}, {8, 2, 3, 0, 0}, {16, 3, 1, 0, 0}},
      std::vector<std::string>{"cat"});
  EXPECT_EQ(check_data({source, nullptr}, {}).duplicate_samples, 0);
}

TEST(Check, DuplicatesLeaksAndContradictionsAreFound) {
  const auto train = std::make_shared<PictureSource>(
      std::vector<Picture>{
          {4, 4, 3, 1, 0}, {4, 4, 3, 2, 0}, {4, 4, 3, 1, 1}, {4, 4, 3, 3, 0}},
      std::vector<std::string>{"cat", "dog"});
  const auto val = std::make_shared<PictureSource>(
      std::vector<Picture>{{4, 4, 3, 9, 0}, {4, 4, 3, 2, 0}, {4, 4, 3, 9, 0}},
      std::vector<std::string>{"cat", "dog"});
  const auto report = check_data({train, val}, {});
  EXPECT_EQ(report.duplicate_samples, 3);
  EXPECT_EQ(report.leaked_samples, 1);
  EXPECT_EQ(report.contradictions, 2);
  ASSERT_EQ(report.duplicates.size(), 3U);
  EXPECT_THAT(
      report.duplicates[0].samples,
      ElementsAre("train picture 0", "train picture 2"));
  EXPECT_TRUE(report.duplicates[0].labels_differ);
  EXPECT_THAT(
      report.duplicates[1].samples,
      ElementsAre("train picture 1", "val picture 1"));
  EXPECT_TRUE(report.duplicates[1].across_parts);
  EXPECT_FALSE(report.duplicates[2].across_parts);
  EXPECT_TRUE(report.has_problems()); // a third of val
}

TEST(Check, RowsWithTheSameInputsAndOtherTargetsAreNoDuplicates) {
  const auto train = std::make_shared<RowsSource>(std::vector<Row>{
      {{61.1F, 2}, 81'473}, {{61.1F, 2}, 83'632}, {{70, 3}, 90'000}});
  const auto val =
      std::make_shared<RowsSource>(std::vector<Row>{{{61.1F, 2}, 79'000}});
  const auto report = check_data({train, val}, {});
  EXPECT_EQ(report.duplicate_samples, 0);
  EXPECT_FALSE(report.has_problems());
}

TEST(Check, RowsThatAreInBothPartsAreAProblem) {
  const Row known{{61.1F, 2}, 81'473};
  const auto train =
      std::make_shared<RowsSource>(std::vector<Row>{known, {{70, 3}, 9}});
  const auto val =
      std::make_shared<RowsSource>(std::vector<Row>{known, {{71, 3}, 8}});
  const auto report = check_data({train, val}, {});
  EXPECT_EQ(report.leaked_samples, 1);
  EXPECT_THAT(
      report.problems(),
      ElementsAre(HasSubstr("1 of 2 validation samples are in train, too")));
}

TEST(Check, DuplicatesInOnePartWithOneLabelAreNoProblem) {
  const auto twice = std::make_shared<PictureSource>(
      std::vector<Picture>{{4, 4, 3, 1, 0}, {4, 4, 3, 1, 0}, {4, 4, 3, 1, 0}},
      std::vector<std::string>{"cat", "dog"});
  const auto report = check_data({twice, shared_pictures(100, 20)}, {});
  EXPECT_FALSE(report.has_problems());
  EXPECT_THAT(
      to_text(report, 80),
      AllOf(
          HasSubstr("2 duplicates; none shared between train and val, none "
                    "with different labels"),
          HasSubstr("Every sample can be used.")));
}

TEST(Check, ATableOfFewDifferentRowsIsAllowedToRepeatThem) {
  std::vector<Row> rows;
  for (int i = 0; i < 200; ++i)
    rows.push_back({{static_cast<float>(i % 7)}, static_cast<float>(i % 2)});
  const std::vector<std::string> classes{"no", "yes"};
  const auto train = std::make_shared<RowsSource>(rows, classes);
  rows.resize(20);
  const auto val = std::make_shared<RowsSource>(rows, classes);
  const auto report = check_data({train, val}, {});
  EXPECT_EQ(report.leaked_samples, 20);
  EXPECT_FALSE(report.has_problems());
  EXPECT_THAT(to_text(report, 80), HasSubstr("few different rows"));
}

TEST(Check, NanAndInfinityAreBadSamplesByName) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto source = std::make_shared<RowsSource>(std::vector<Row>{
      {{1, 2, 3}, 1},
      {{1, kNan, 3}, 2},
      {{1, 2, 4}, kInfinity},
      {{-kInfinity, 2, 4}, 4}});
  const auto report = check_data({source, nullptr}, {});
  EXPECT_TRUE(report.has_problems());
  EXPECT_THAT(
      report.bad_samples,
      ElementsAre(
          "[data] row 1: input 2 of 3 is NaN.",
          "[data] row 2: target is infinite.",
          "[data] row 3: input 1 of 3 is infinite."));
}

TEST(Check, BadSamplesThatARunLeavesOutAreToldAndNoProblem) {
  const auto source = shared_pictures(30);
  source->bad = {3};
  CheckOptions options;
  options.skips_bad = true;
  const auto report = check_data({source, nullptr}, options);
  EXPECT_FALSE(report.has_problems());
  EXPECT_THAT(
      to_text(report, 80),
      AllOf(
          HasSubstr("1 sample cannot be used, and data.bad leaves"),
          HasSubstr("picture 3 is broken")));
}

TEST(Check, WorkersDoNotChangeTheReport) {
  const auto train = shared_pictures(777);
  const auto val = shared_pictures(200, 50); // some are in train, too
  train->bad = {5, 300};
  CheckOptions options;
  const auto one = to_json(check_data({train, val}, options));
  options.workers = 5;
  EXPECT_EQ(to_json(check_data({train, val}, options)), one);
}

TEST(Check, WhatASourceThrowsEndsIt) {
  const auto source = shared_pictures(500);
  source->fails_at = 250;
  CheckOptions options;
  options.workers = 2;
  try {
    check_data({source, nullptr}, options);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[data] the disk is gone.");
  }
}

TEST(Check, WhoWatchesMayStopIt) {
  struct Stopped {};
  CheckOptions options;
  options.progress = [](std::int64_t, std::int64_t) { throw Stopped{}; };
  EXPECT_THROW(check_data({shared_pictures(100), nullptr}, options), Stopped);
}

TEST(CheckReport, NamesWhatIsWrongAndWhatToDo) {
  const auto source = shared_pictures(30);
  source->bad = {3};
  const auto text = to_text(check_data({source, nullptr}, {}), 80);
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("1 sample cannot be used"),
          HasSubstr("picture 3 is broken"),
          HasSubstr("data.bad"),
          HasSubstr("cat"),
          Not(HasSubstr("Every sample"))));
  for (const auto& line : split(text, '\n'))
    EXPECT_LE(line.size(), 80U) << line;
}

TEST(CheckReport, TheLastLinesAreTheReasonOfTheExitCode) {
  const auto train = shared_pictures(30);
  const auto text = to_text(check_data({train, train}, {}), 80);
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("30 duplicates; 30 shared between train and val"),
          HasSubstr(
              "Every sample can be read, but there is a problem:\n  30 of "
              "30 validation samples are in train, too"),
          Not(HasSubstr("Every sample can be used"))));
}

TEST(CheckReport, ClassesWithoutSamplesAreNamed) {
  const auto source = std::make_shared<PictureSource>(
      std::vector<Picture>{{4, 4, 3, 1, 0}, {4, 4, 3, 2, 2}},
      std::vector<std::string>{"cat", "dog", "mouse"});
  EXPECT_THAT(
      to_text(check_data({source, nullptr}, {}), 80),
      HasSubstr("Classes of train (empty: dog):"));
}

TEST(CheckReport, BarsOfOneLengthAreLeftOutAndNoneFillsTheScreen) {
  EXPECT_EQ(
      histogram({{"cat", 50}, {"dog", 50}}, 200), "  cat  50\n  dog  50\n");
  for (const auto& line :
       split(histogram({{"cat", 50}, {"dog", 25}}, 200), '\n'))
    EXPECT_LE(line.size(), 60U) << line;
  EXPECT_THAT(
      to_text(check_data({shared_pictures(10), nullptr}, {}), 80),
      AllOf(
          HasSubstr("Classes of train (5 each)"),
          HasSubstr("Sizes in train: all 4 x 4 RGB"),
          Not(HasSubstr("#"))));
}

TEST(CheckReport, JsonHoldsEverything) {
  const auto json = nlohmann::json::parse(
      to_json(check_data({shared_pictures(30), shared_pictures(10, 100)}, {})));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("problems"), false);
  EXPECT_EQ(json.at("parts").at(1).at("class_counts").at(1), 5);
  EXPECT_EQ(json.at("duplicates").at("groups").size(), 0U);
}

TEST(CheckReport, AHistogramOfManyClassesShowsTheEnds) {
  std::vector<HistogramRow> rows;
  for (int i = 0; i < 100; ++i)
    rows.push_back({cat("class", i), 100 + i});
  const auto text = histogram(rows, 60, 10);
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("class99"),
          HasSubstr("class0 "),
          HasSubstr("90 in between"),
          Not(HasSubstr("class50"))));
  EXPECT_EQ(histogram({{"none", 0}}, 60), "  none  0\n");
}

TEST(CheckReport, BarsAreDrawnOnlyWhereTheyDiffer) {
  EXPECT_EQ(
      histogram({{"a", 180}, {"b", 179}, {"c", 0}}, 60),
      "  a  180\n  b  179\n  c    0\n");
  EXPECT_THAT(histogram({{"a", 180}, {"b", 90}}, 60), HasSubstr("###"));
}

} // namespace
} // namespace temper::data
