#include "temper/data/sample/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/complaint.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

Schema everything() {
  Schema schema;
  schema.input = Input::numbers;
  schema.target = Target::numbers;
  schema.input_shape = {3};
  schema.array = ArrayRule{"HWC", {0.1, 1.0 / 3}, {2, 3}};
  Column number;
  number.name = "age";
  number.mean = 1.0 / 3;
  number.deviation = 0.1;
  number.fill = number.mean;
  number.low = -1;
  number.high = 7;
  number.missing = 2;
  Column category;
  category.name = "city, \"old\"";
  category.kind = ColumnKind::category;
  category.categories = {"Bern", "Z\xc3\xbcrich"};
  Column date;
  date.name = "when";
  date.kind = ColumnKind::date;
  date.form = "day/month/year";
  schema.columns = {number, category, date};
  schema.decimal = ",";
  schema.left_out = {"id"};
  schema.target_name = "price";
  schema.target_size = 1;
  schema.target_mean = {1e5 / 7};
  schema.target_deviation = {123.456};
  return schema;
}

TEST(Schema, ComesBackFromItsJsonBitForBit) {
  const Schema schema = everything();
  EXPECT_EQ(parse_schema(to_json(schema), "a"), schema);
  Schema images;
  images.input_shape = {3, 224, 224};
  images.image =
      ImageRule{3, 256, "bicubic", 224, 224, {0.485F, 0.5F, 0.1F}, {1, 2, 3}};
  images.classes = {"cat", "dog"};
  EXPECT_EQ(parse_schema(to_json(images), "a"), images);
  Schema text;
  text.input = Input::tokens;
  text.target = Target::tokens;
  text.tokens = "characters";
  text.vocabulary = {"\n", "a", "\xc3\xa9"};
  EXPECT_EQ(parse_schema(to_json(text), "a"), text);
}

TEST(Schema, NamesTheInputsOfATable) {
  EXPECT_THAT(
      input_names(everything()),
      testing::ElementsAre(
          "age", "city, \"old\"=Bern", "city, \"old\"=Z\xc3\xbcrich", "when"));
}

TEST(Schema, WhatIsNoneIsRefusedByName) {
  for (const char* text :
       {"", "{}", "[]", "{\"temper_schema\": 1}", "{\"temper_schema\": 99}"})
    EXPECT_THAT(
        complaint([&] { parse_schema(text, "x.json"); }),
        AllOf(HasSubstr("x.json"), HasSubstr("schema")));
  Schema schema = everything();
  schema.target_deviation = {0};
  EXPECT_THAT(
      complaint([&] { parse_schema(to_json(schema), "x.json"); }),
      HasSubstr("std"));
}

} // namespace
} // namespace temper::data
