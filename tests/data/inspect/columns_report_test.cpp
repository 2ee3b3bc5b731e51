#include "temper/data/inspect/columns_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"

namespace temper::data {
namespace {

Column column(const std::string& name, ColumnKind kind) {
  Column made;
  made.name = name;
  made.kind = kind;
  return made;
}

TEST(ColumnsReport, SaysWhatEachColumnIsTakenFor) {
  Column rooms = column("rooms", ColumnKind::number);
  rooms.low = 1;
  rooms.high = 7;
  rooms.fill = 3.9512345;
  Column built = column("built", ColumnKind::date);
  built.low = -7305; // 1950-01-01
  built.high = 18627; // 2020-12-31
  built.fill = 0;
  Column city = column("city", ColumnKind::category);
  city.categories = {"Berlin", "München"};
  city.missing = 1234;
  Schema schema;
  schema.columns = {rooms, built, city};
  schema.left_out = {"id"};
  schema.target = Target::numbers;
  schema.target_name = "price";
  schema.target_mean = {55'000};
  schema.target_deviation = {1250.5};
  EXPECT_EQ(
      columns_text(schema, 80),
      "Columns of train:\n"
      "  column  type      values                    mean        missing\n"
      "  rooms   number    1 to 7                    3.9512\n"
      "  built   date      1950-01-01 to 2020-12-31  1970-01-01\n"
      "  city    category  2: Berlin, München                      1,234\n"
      "Left out: id\n"
      "Target: price, a number: mean 55000, standard deviation 1250.5\n");
  EXPECT_EQ(columns_text({}, 80), "");
}

TEST(ColumnsReport, NumbersOfFiveToSevenDigitsAreWrittenOut) {
  Column id = column("id", ColumnKind::number);
  id.low = 100'000;
  id.high = 1'234'567;
  id.fill = 152'757.6;
  Schema schema;
  schema.columns = {id};
  EXPECT_THAT(
      columns_text(schema, 80),
      testing::HasSubstr("100000 to 1234567  152758"));
}

TEST(ColumnsReport, StaysWithinTheScreen) {
  Schema schema;
  for (int i = 0; i < 70; ++i) {
    Column wide = column(std::string(50, 'n'), ColumnKind::category);
    for (int c = 0; c < 64; ++c)
      wide.categories.push_back(cat("category", c));
    schema.columns.push_back(wide);
  }
  const std::string text = columns_text(schema, 60);
  for (const auto& line : split(text, '\n'))
    EXPECT_LE(line.size(), 60U) << line;
  EXPECT_THAT(text, testing::HasSubstr("and 10 more columns"));
}

TEST(ColumnsReport, ATargetOfClassesIsCounted) {
  Schema schema;
  schema.columns = {column("rooms", ColumnKind::number)};
  schema.target_name = "kind";
  schema.classes = {"cat", "dog"};
  EXPECT_THAT(
      columns_text(schema, 80),
      testing::EndsWith("Target: kind, one of 2 classes\n"));
}

} // namespace
} // namespace temper::data
