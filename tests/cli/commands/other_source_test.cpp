// Validation and test sources of their own, from the first file to the printed
// number: what a model learnt is scored by what things are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/base/file/file.h"
#include "temper/data/sample/schema.h"
#include "tests/cli/small_runs.h"

namespace temper {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using tests::SmallRun;
using tests::TempFolder;

// The city says which animal it is; x says nothing.
std::string animals(
    const std::string& columns,
    int rows,
    const std::string& in_place_of_oslo = "oslo") {
  const std::vector<std::string> cities{"rome", in_place_of_oslo, "bern"};
  const std::vector<std::string> kinds{"cat", "dog", "eel"};
  std::string text;
  for (const std::string& name : split(columns, ','))
    text += cat(text.empty() ? "" : ",", name);
  text += "\n";
  for (int i = 0; i < rows; ++i) {
    const auto kind = static_cast<std::size_t>(i % 3);
    std::string line;
    for (const std::string& name : split(columns, ',')) {
      const std::string value = name == "city" ? cities[kind]
          : name == "animal"                   ? kinds[kind]
                                               : cat(i * 7 % 11, ".5");
      line += cat(line.empty() ? "" : ",", value);
    }
    text += line + "\n";
  }
  return text;
}

// 1, 2, 3 by the value of x; `from` is the lowest that is there.
std::string counted(int rows, int from) {
  std::string text = "x,y\n";
  for (int i = 0; i < rows; ++i) {
    const int kind = from + i % (4 - from);
    text += cat(kind * 10, ".", i % 5, ",", kind, "\n");
  }
  return text;
}

struct ValidationCase {
  std::string name;
  std::string train;
  std::string val;
  std::int64_t val_samples;
  double accuracy;
};

std::vector<ValidationCase> cases() {
  const std::string train = animals("x,city,animal", 60);
  std::string two = "x,city,animal\n";
  for (int i = 0; i < 15; ++i)
    two += cat(i, ".5,", i % 2 == 0 ? "bern,eel\n" : "rome,cat\n");
  std::string unseen_class = animals("x,city,animal", 30);
  for (int i = 0; i < 10; ++i)
    unseen_class += cat(i, ".5,rome,yak\n");
  return {
      {"TheSameRows", train, train, 60, 1},
      {"ColumnsInAnotherOrder", train, animals("city,x,animal", 30), 30, 1},
      {"AnExtraColumn", train, animals("more,city,x,animal", 30), 30, 1},
      {"FewerCategories", train, two, 15, 1},
      {"ClassesThatTrainingLacks", train, unseen_class, 30, 1},
      {"FewerClassesThatAreNumbers", counted(60, 1), counted(20, 2), 20, 1},
  };
}

class ValidationSource : public testing::TestWithParam<ValidationCase> {};

SmallRun run_on(
    const TempFolder& folder,
    const std::string& name,
    std::vector<std::string> keys) {
  std::vector<std::string> all{
      "model.name=mlp",
      "model.widths=[16]",
      "optimizer.name=adamw",
      "optimizer.lr=0.02",
      "schedule.name=constant",
      "train.ema=0",
      "train.epochs=12"};
  all.insert(all.end(), keys.begin(), keys.end());
  return {folder, name, all};
}

TEST_P(ValidationSource, IsScoredByWhatThingsAreCalled) {
  const TempFolder folder;
  const auto train = folder.write("tr.csv", GetParam().train);
  const auto val = folder.write("va.csv", GetParam().val);
  const SmallRun small = run_on(
      folder,
      "a",
      {cat("data.source=csv:", train.string()),
       cat("data.val=csv:", val.string())});
  const train::RunResult result = train::run(small.request());
  EXPECT_EQ(result.overview.train_samples, 60); // nothing is split off
  EXPECT_EQ(result.overview.val_samples, GetParam().val_samples);
  EXPECT_EQ(train::metric(result.outcome.train, "accuracy"), 1);
  EXPECT_EQ(train::metric(result.outcome.val, "accuracy"), GetParam().accuracy);
}

INSTANTIATE_TEST_SUITE_P(
    Tables,
    ValidationSource,
    testing::ValuesIn(cases()),
    [](const auto& each) { return each.param.name; });

TEST(ValidationSource, WithAnUnseenCategoryIsRightWhereItIsKnown) {
  const TempFolder folder;
  const auto train = folder.write("tr.csv", animals("x,city,animal", 60));
  const auto val =
      folder.write("va.csv", animals("x,city,animal", 30, "paris"));
  const SmallRun small = run_on(
      folder,
      "a",
      {cat("data.source=csv:", train.string()),
       cat("data.val=csv:", val.string())});
  const train::RunResult result = train::run(small.request());
  EXPECT_GE(train::metric(result.outcome.val, "accuracy"), 2.0 / 3 - 1e-9);
  EXPECT_THAT(result.overview.notes, Contains(HasSubstr("paris (10)")));
}

TEST(TestSource, IsScoredOnceWithTheBestWeightsAlsoAfterAStop) {
  const TempFolder folder;
  const auto train = folder.write("tr.csv", animals("x,city,animal", 60));
  const auto test = folder.write("te.csv", animals("animal,city,x", 24));
  const auto keys = std::vector<std::string>{
      cat("data.source=csv:", train.string()),
      cat("data.test=csv:", test.string())};
  const SmallRun whole = run_on(folder, "whole", keys);
  const auto result = train::run(whole.request());
  EXPECT_EQ(result.overview.test_samples, 24);
  EXPECT_EQ(train::metric(result.outcome.test, "accuracy"), 1);
  const auto told = whole.events("test");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].number("test_accuracy"), 1);
  EXPECT_EQ(told[0].count("samples"), 24);
  EXPECT_EQ(told[0].count("epoch"), result.outcome.best_epoch);
  EXPECT_TRUE(told[0].number("test_loss").has_value());

  // Stopped after its last step, where only the test is left to do.
  const SmallRun cut = run_on(folder, "cut", keys);
  const auto stopped =
      tests::run_until(cut.request(), [&](const journal::Event& event) {
        return event.kind == "epoch" && event.count("epoch") == 11;
      });
  EXPECT_EQ(cut.events("test").size(), 0U);
  EXPECT_EQ(stopped.ending, train::Ending::kStopped);
  train::RunRequest again = cut.request();
  again.resume = cut.directory().path;
  train::run(again);
  ASSERT_EQ(cut.events("test").size(), 1U);
  EXPECT_EQ(
      cut.events("test")[0].number("test_loss"), told[0].number("test_loss"));
  cut.expect_same_as(whole);
}

TEST(RunSchema, IsInTheRunAndIsWhatAResumeGoesBy) {
  const TempFolder folder;
  const auto train = folder.write("tr.csv", animals("x,city,animal", 60));
  const auto keys =
      std::vector<std::string>{cat("data.source=csv:", train.string())};
  const SmallRun whole = run_on(folder, "whole", keys);
  train::run(whole.request());
  const auto text = read_small_file(whole.directory().schema(), 1 << 20);
  ASSERT_TRUE(text.has_value());
  const auto schema = data::parse_schema(*text, "schema.json");
  EXPECT_THAT(schema.classes, testing::ElementsAre("cat", "dog", "eel"));
  EXPECT_THAT(
      data::input_names(schema),
      testing::ElementsAre("x", "city=bern", "city=oslo", "city=rome"));

  const SmallRun cut = run_on(folder, "cut", keys);
  tests::run_until(cut.request(), tests::after_update(20));
  train::RunRequest again = cut.request();
  again.resume = cut.directory().path;
  train::run(again);
  cut.expect_same_as(whole);
}

// The columns of the other table stand in another order.
TEST(RunSchema, IsThatOfTheWeightsThatAreTrainedOn) {
  const TempFolder folder;
  const auto train = folder.write("tr.csv", animals("x,city,animal", 60));
  const SmallRun first =
      run_on(folder, "first", {cat("data.source=csv:", train.string())});
  train::run(first.request());

  const auto more = folder.write("more.csv", animals("animal,city,x", 60));
  const std::vector<std::string> on{
      "model.weights=" + first.directory().path.string(),
      "optimizer.lr=1e-9",
      "train.epochs=1"};
  auto keys = on;
  keys.push_back(cat("data.source=csv:", more.string()));
  const SmallRun second = run_on(folder, "second", keys);
  const auto result = train::run(second.request());
  EXPECT_EQ(train::metric(result.outcome.train, "accuracy"), 1);
  EXPECT_THAT(
      result.overview.notes,
      Contains(HasSubstr("have the order and the scales")));
  EXPECT_EQ(
      read_small_file(first.directory().schema(), 1 << 20),
      read_small_file(second.directory().schema(), 1 << 20));

  // Another animal in the place of the dog: that cannot be put right.
  std::string yaks = animals("x,city,animal", 60);
  for (auto at = yaks.find("dog"); at != yaks.npos; at = yaks.find("dog"))
    yaks.replace(at, 3, "yak");
  keys = on;
  keys.push_back(
      cat("data.source=csv:", folder.write("yaks.csv", yaks).string()));
  const SmallRun third = run_on(folder, "third", keys);
  EXPECT_THAT(
      train::run(third.request()).overview.notes,
      Contains(testing::AllOf(
          HasSubstr("know the classes cat, dog, eel"),
          HasSubstr("the data has cat, eel, yak"))));
}

TEST(Regression, IsToldInTheUnitsOfTheData) {
  const TempFolder folder;
  std::string text = "area,price\n";
  for (int i = 0; i < 80; ++i)
    text += cat(40 + i * 37 % 90, ",", 100'000 + 2'000 * (i * 37 % 90), ".5\n");
  const auto table = folder.write("houses.csv", text);
  const SmallRun small = run_on(
      folder,
      "a",
      {cat("data.source=csv:", table.string()), "train.epochs=60"});
  const train::RunResult result = train::run(small.request());
  EXPECT_GT(train::metric(result.outcome.val, "r2"), 0.97);
  const double mae = train::metric(result.outcome.val, "mae");
  EXPECT_GT(mae, 10); // francs, not deviations
  EXPECT_LT(mae, 10'000);
  EXPECT_LT(train::metric(result.outcome.val, "loss"), 0.05);
}

} // namespace
} // namespace temper
