#include "temper/train/setup/earlier_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

data::Column column(
    const std::string& name,
    const std::vector<std::string>& categories = {}) {
  data::Column made;
  made.name = name;
  if (!categories.empty()) made.kind = data::ColumnKind::category;
  made.categories = categories;
  return made;
}

data::Schema churn_schema() {
  data::Schema schema;
  schema.input = data::Input::numbers;
  schema.columns = {column("age"), column("city", {"bern", "oslo"})};
  schema.input_shape = {3};
  schema.classes = {"no", "yes"};
  schema.target_name = "churn";
  return schema;
}

TEST(EarlierSchema, IsFoundFromEveryPlaceThatWeightsAreNamedBy) {
  const tests::TempFolder folder;
  folder.write("runs/a/schema.json", data::to_json(churn_schema()));
  folder.write("runs/a/checkpoints/step-3/state.safetensors", "");
  config::Model model;
  for (const char* place :
       {"runs/a",
        "runs/a/",
        "runs/a/checkpoints/step-3",
        "runs/a/checkpoints/step-3/state.safetensors"}) {
    model.weights = folder.text(place);
    const EarlierSchema found = earlier_schema(model);
    ASSERT_NE(found.schema, nullptr) << place;
    EXPECT_EQ(*found.schema, churn_schema());
    EXPECT_EQ(found.of, folder.text("runs/a"));
  }
  model.weights = folder.write("net.pth", "").string();
  EXPECT_EQ(earlier_schema(model).schema, nullptr);
  model.weights = "imagenet";
  EXPECT_EQ(earlier_schema(model).schema, nullptr);
}

TEST(EarlierSchema, ReadsTheSameThingsInAnyOrder) {
  data::Schema now = churn_schema();
  std::swap(now.columns[0], now.columns[1]);
  std::swap(now.classes[0], now.classes[1]);
  now.columns[0].categories = {"oslo"};
  now.columns[1].mean = 3;
  EXPECT_TRUE(reads_as(now, churn_schema()));
  EXPECT_EQ(
      other_meaning(now, {std::make_shared<data::Schema>(churn_schema()), "a"}),
      "");
}

TEST(EarlierSchema, IsLeftAloneByOtherData) {
  const EarlierSchema earlier{
      std::make_shared<data::Schema>(churn_schema()), "runs/a"};
  data::Schema now = churn_schema();
  now.columns[1].categories.push_back("rome");
  EXPECT_FALSE(reads_as(now, churn_schema())); // rome would be lost
  now = churn_schema();
  now.classes = {"no", "maybe"};
  EXPECT_FALSE(reads_as(now, churn_schema()));
  EXPECT_THAT(
      other_meaning(now, earlier),
      AllOf(
          HasSubstr("runs/a know the classes no, yes"),
          HasSubstr("the data has no, maybe")));
  now = churn_schema();
  now.columns[0].name = "income";
  EXPECT_FALSE(reads_as(now, churn_schema()));
  EXPECT_THAT(other_meaning(now, earlier), HasSubstr("the columns age, city"));
  now = churn_schema();
  now.target_name = "left";
  EXPECT_FALSE(reads_as(now, churn_schema()));
  data::Schema text;
  text.input = data::Input::tokens;
  text.target = data::Target::tokens;
  text.tokens = "characters";
  text.vocabulary = {"a", "b"};
  data::Schema other = text;
  other.vocabulary = {"b"};
  EXPECT_TRUE(reads_as(other, text));
  other.vocabulary = {"b", "c"};
  EXPECT_FALSE(reads_as(other, text));
}

} // namespace
} // namespace temper::train
