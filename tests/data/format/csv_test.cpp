#include "temper/data/format/csv.h"

#include <gmock/gmock.h>

#include "temper/base/text.h"
#include "temper/data/format/date.h"
#include "temper/data/open/open.h"
#include "temper/data/sample/schema.h"
#include "temper/data/source/csv_source.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, char delimiter = ',') {
  CsvReader reader(text, delimiter, "a.csv");
  Rows rows;
  std::vector<std::string_view> fields;
  while (reader.next(fields))
    rows.emplace_back(fields.begin(), fields.end());
  return rows;
}

class CsvFile : public testing::Test {
 protected:
  // All of it to train on, numbers as they are unless `scale`.
  Splits open(
      const std::string& text,
      const std::string& target = "",
      TableOptions table = {},
      bool scale = false) {
    OpenOptions options;
    options.target = target;
    options.val_fraction = 0;
    options.table = std::move(table);
    options.numbers.scale = scale;
    return open_source(
        cat("csv:", folder_.write("a.csv", text).string()), options);
  }
  static std::vector<float> row(const Splits& splits, std::int64_t index) {
    Sample sample;
    splits.train->read(index, sample);
    return sample.numbers;
  }
  std::string refusal(const std::string& text, const std::string& target = "") {
    return complaint([&] { open(text, target); });
  }

 private:
  TempFolder folder_;
};

TEST(Csv, QuotesHoldDelimitersLineEndsAndQuotes) {
  EXPECT_EQ(
      rows_of("a,\"b,c\",\"d\"\"e\"\"\"\r\n\"x\ny\", z ,\r\n"),
      (Rows{{"a", "b,c", "d\"e\""}, {"x\ny", "z", ""}}));
  EXPECT_EQ(
      rows_of("\"\"\"\",\"\",\"\"\"a\"\"b\""), (Rows{{"\"", "", "\"a\"b"}}));
  EXPECT_EQ(rows_of("a\"b,c"), (Rows{{"a\"b", "c"}}));
}

TEST(Csv, BlankLinesAndAMissingLastLineEndDoNotMatter) {
  EXPECT_EQ(rows_of("\n a,b\n\r\n  \n1,2"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("\n\n"), Rows{});
  EXPECT_EQ(rows_of(",\n"), (Rows{{"", ""}}));
  EXPECT_EQ(rows_of("1,"), (Rows{{"1", ""}}));
  EXPECT_EQ(rows_of("\t\t\n", '\t'), (Rows{{"", "", ""}}));
}

TEST(Csv, LinesAreCountedThroughQuotes) {
  CsvReader reader("a\n\"x\n\ny\"\nb", ',', "a.csv");
  std::vector<std::string_view> fields;
  std::vector<std::int64_t> lines;
  while (reader.next(fields))
    lines.push_back(reader.line());
  EXPECT_THAT(lines, ElementsAre(1, 2, 5));
}

TEST(Csv, ABadQuoteNamesItsLine) {
  EXPECT_THAT(
      complaint([] { rows_of("a\nb,\"c\nd"); }), HasSubstr("a.csv line 2"));
  EXPECT_THAT(
      complaint([] { rows_of("\"a\"b\n"); }),
      HasSubstr("follows a closing quote"));
}

TEST(Csv, TheDelimiterIsTheOneTheFirstLineHasMostOf) {
  EXPECT_EQ(detect_delimiter("a,b;c,d\n;;;;"), ',');
  EXPECT_EQ(detect_delimiter("a;b;c\n1,5;2;3"), ';');
  EXPECT_EQ(detect_delimiter("\n\"a,b,c\"\td\n"), '\t');
  EXPECT_EQ(detect_delimiter("a\n"), ',');
}

TEST_F(CsvFile, NumbersStayAsTheyAreAndTextBecomesOneHot) {
  const Splits splits = open(
      "age,colour,weight,kind\n"
      "1,red,0.5,b\n"
      "2,blue,1.5,a\n"
      "3,red,2.5,b\n");
  const IndexedSource& source = *splits.train;
  EXPECT_THAT(
      input_names(*splits.schema),
      ElementsAre("age", "colour=blue", "colour=red", "weight"));
  EXPECT_THAT(source.info().shape, ElementsAre(4));
  EXPECT_THAT(source.info().classes, ElementsAre("a", "b"));
  Sample sample;
  source.read(1, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(2.0F, 1.0F, 0.0F, 1.5F));
  EXPECT_EQ(sample.label, 0);
  source.read(2, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(3.0F, 0.0F, 1.0F, 2.5F));
  EXPECT_EQ(sample.label, 1);
  EXPECT_EQ(source.label(0), 1);
}

TEST_F(CsvFile, MissingNumbersBecomeTheMeanAndMissingTextNoCategory) {
  const Splits splits = open("a,b,c,y\n1,x,NA,0.1\n,y,nan,0.2\n4,?,null,0.3\n");
  const IndexedSource& source = *splits.train;
  EXPECT_THAT(
      splits.notes,
      ElementsAre(HasSubstr("5 missing values of the training rows in 3")));
  Sample sample;
  source.read(1, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(2.5F, 0.0F, 1.0F, 0.0F));
  source.read(2, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(4.0F, 0.0F, 0.0F, 0.0F));
  EXPECT_EQ(source.info().target, Target::numbers);
  EXPECT_EQ(source.info().target_size, 1);
  EXPECT_THAT(sample.target_numbers, ElementsAre(0.3F));
}

TEST_F(CsvFile, WholeNumbersThatRepeatAreClassesInNumericOrder) {
  const std::string text = "x,y\n1,10\n2,9\n3,10\n4,9.0\n5,2\n6,2\n";
  const Splits splits = open(text);
  const IndexedSource& source = *splits.train;
  EXPECT_THAT(source.info().classes, ElementsAre("2", "9", "10"));
  EXPECT_EQ(source.label(0), 2);
  EXPECT_EQ(source.label(3), 1);
  EXPECT_EQ(open(text, "y:number").train->info().target, Target::numbers);
  // Each comes up once: a quantity, unless it is said to be a class.
  const std::string once = "x,y\n1,10\n2,9\n3,8\n";
  EXPECT_EQ(open(once).train->info().target, Target::numbers);
  EXPECT_EQ(open(once, "y:class").train->info().classes.size(), 3U);
  EXPECT_EQ(open(once, ":class").train->info().classes.size(), 3U);
}

TEST_F(CsvFile, TheTargetMayBeAnyColumn) {
  const Splits splits = open("kind;x;y\na;1;2\nb;3;4.5\n", "kind");
  EXPECT_THAT(input_names(*splits.schema), ElementsAre("x", "y"));
  EXPECT_THAT(splits.train->info().classes, ElementsAre("a", "b"));
  EXPECT_EQ(splits.schema->target_name, "kind");
  EXPECT_THAT(
      refusal("kind,x\na,1\n", "knd"), HasSubstr("Did you mean 'kind'?"));
  EXPECT_THAT(refusal("a,a,b\n1,2,3\n", "a"), HasSubstr("two"));
  EXPECT_THAT(refusal("x,y\n1,a\n", "y:number"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("x,y\n1,.5\n", "y:class"), HasSubstr("fractions"));
}

TEST_F(CsvFile, AFirstRowOfNumbersIsData) {
  const Splits splits = open(
      "\xef\xbb\xbf"
      "5.1,3.5,setosa\n4.9,3.0,other\n");
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_THAT(input_names(*splits.schema), ElementsAre("column 1", "column 2"));
  EXPECT_THAT(row(splits, 0), ElementsAre(5.1F, 3.5F));
}

TEST_F(CsvFile, ErrorsNameFileLineAndColumn) {
  EXPECT_THAT(
      refusal("a,b\n1,2\n3\n"),
      AllOf(HasSubstr("a.csv line 3"), HasSubstr("1 field where")));
  EXPECT_THAT(
      refusal("a,b\n1,2\n3,NA\n"),
      AllOf(HasSubstr("line 3"), HasSubstr("'b' is missing")));
  EXPECT_THAT(
      refusal("a,b\n1e300,2\n"),
      AllOf(HasSubstr("line 2"), HasSubstr("column 'a'")));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("a,b\n"), HasSubstr("no rows"));
  EXPECT_THAT(refusal("a\n1\n"), HasSubstr("one column"));
  EXPECT_THAT(
      refusal(std::string(
          "\xff\xfe"
          "a\0",
          4)),
      HasSubstr("UTF-16"));
}

TEST_F(CsvFile, TextOfTooManyValuesIsLeftOutAndNoted) {
  std::string text = "id,x,y\n0,1,0.5\n";
  for (int i = 0; i < 65; ++i)
    text += cat("name ", i, ",", i % 7, ",0.5\n");
  const Splits splits = open(text);
  EXPECT_THAT(input_names(*splits.schema), ElementsAre("x"));
  EXPECT_THAT(splits.schema->left_out, ElementsAre("id"));
  EXPECT_THAT(
      splits.notes,
      ElementsAre(AllOf(
          HasSubstr("column 'id'"),
          HasSubstr("line 3 says 'name 0'"),
          HasSubstr("more than 64"))));
  // Unless somebody says that it is a category.
  const Splits kept = open(text, "", {{{"id", "category"}}});
  EXPECT_EQ(input_names(*kept.schema).size(), 67U);
}

TEST_F(CsvFile, NumbersAndTargetsAreStandardisedByTheTrainingRows) {
  const Splits splits =
      open("a,b,y\n1,7,100\n3,7,300\n5,7,500.5\n", "", {}, true);
  const Schema& schema = *splits.schema;
  EXPECT_DOUBLE_EQ(schema.columns[0].mean, 3);
  EXPECT_NEAR(schema.columns[0].deviation, std::sqrt(8.0 / 3), 1e-12);
  EXPECT_DOUBLE_EQ(schema.columns[1].deviation, 1); // all the same
  EXPECT_NEAR(schema.target_mean.at(0), 900.5 / 3, 1e-9);
  Sample sample;
  splits.train->read(2, sample);
  EXPECT_FLOAT_EQ(sample.numbers[0], 2 / std::sqrt(8.0F / 3));
  EXPECT_FLOAT_EQ(sample.numbers[1], 0);
  EXPECT_NEAR(
      static_cast<double>(sample.target_numbers[0]) *
              schema.target_deviation[0] +
          schema.target_mean[0],
      500.5,
      1e-4);
}

TEST_F(CsvFile, NumbersFarFromZeroKeepTheirDifferences) {
  // Seconds since 1970: a float has steps of 128 there.
  const Splits splits =
      open("t,y\n1700000001,a\n1700000002,b\n1700000003,a\n", "", {}, true);
  EXPECT_NEAR(row(splits, 0)[0], -std::sqrt(1.5), 1e-5);
  EXPECT_NEAR(row(splits, 1)[0], 0, 1e-5);
}

TEST_F(CsvFile, ColumnsAreWhatIsSaidAboutThem) {
  const std::string text =
      "zip,name,x,y\n10115,ann,1,a\n20095,bob,2,b\n10115,cid,3,a\n";
  const Splits splits =
      open(text, "", {{{"zip", "category"}}, {"name"}, "auto"});
  EXPECT_THAT(
      input_names(*splits.schema), ElementsAre("zip=10115", "zip=20095", "x"));
  EXPECT_THAT(splits.notes, ::testing::IsEmpty());
  EXPECT_THAT(
      complaint([&] {
        open(text, "", {{{"zap", "category"}}});
      }),
      HasSubstr("Did you mean 'zip'?"));
  EXPECT_THAT(
      complaint([&] {
        open(text, "", {{{"name", "number"}}});
      }),
      AllOf(HasSubstr("cannot be a number"), HasSubstr("line 2 says 'ann'")));
  EXPECT_THAT(
      complaint([&] {
        open(text, "y", {{}, {"y"}});
      }),
      HasSubstr("is the target"));
}

TEST_F(CsvFile, DatesAreDays) {
  const Splits splits = open(
      "when,us,y\n1970-01-02,03/31/2024,a\n1970-01-11T12:00,04/01/2024,b\n");
  EXPECT_EQ(splits.schema->columns[0].kind, ColumnKind::date);
  EXPECT_EQ(splits.schema->columns[1].kind, ColumnKind::date);
  EXPECT_THAT(row(splits, 0), ElementsAre(1.0F, 19813.0F));
  EXPECT_THAT(row(splits, 1), ElementsAre(10.5F, 19814.0F));
  // 31 is no month: then it is the day that comes first, in all rows.
  const Splits europe = open("d,y\n02/01/1970,a\n31/01/1970,b\n02.01.1970,a\n");
  EXPECT_EQ(europe.schema->columns[0].kind, ColumnKind::category);
  EXPECT_THAT(
      row(open("d,y\n02/01/1970,a\n31/01/1970,b\n"), 0), ElementsAre(1.0F));
}

TEST_F(CsvFile, DatesKeepTheirSeconds) {
  const Splits splits = open(
      "when,y\n2024-03-01 12:00:01,a\n2024-03-01 12:00:03,b\n", "", {}, true);
  EXPECT_THAT(row(splits, 0), ElementsAre(testing::FloatNear(-1.0F, 0.01F)));
  EXPECT_THAT(row(splits, 1), ElementsAre(testing::FloatNear(1.0F, 0.01F)));
}

TEST_F(CsvFile, ADecimalCommaIsFoundOut) {
  const Splits splits = open("a;b;y\n1,5;1.234,5;x\n-2,25;7;y\n");
  EXPECT_THAT(row(splits, 0), ElementsAre(1.5F, 1234.5F));
  EXPECT_THAT(row(splits, 1), ElementsAre(-2.25F, 7.0F));
  EXPECT_THAT(splits.notes, ElementsAre(HasSubstr("decimal comma")));
  // A point somewhere, and the comma is none.
  EXPECT_EQ(
      open("a;b;y\n1,5;1.5;x\n2,5;2;y\n").schema->columns[0].kind,
      ColumnKind::category);
}

TEST_F(CsvFile, WhatCountsTheRowsIsSaidToBeAnIdentifier) {
  std::string text = "id,x,y\n";
  for (int i = 0; i < 30; ++i)
    text += cat(1000 + 3 * i, ",", i % 4, ",", i % 2 == 0 ? "a" : "b", "\n");
  EXPECT_THAT(
      open(text).notes,
      ElementsAre(AllOf(
          HasSubstr("'id' looks like an identifier"),
          HasSubstr("data.drop = [\"id\"]"))));
}

TEST(Date, OnlyRealDatesAreDates) {
  EXPECT_EQ(parse_date("2024-02-29", DateForm::year_first), 19782.0);
  EXPECT_EQ(
      parse_date("2024-02-29T06:00:00+06:00", DateForm::year_first), 19782.0);
  EXPECT_EQ(
      parse_date("29.2.2024 18:00:00.0", DateForm::day_first_dots), 19782.75);
  for (const char* none :
       {"2023-02-29",
        "2024-13-01",
        "20240229",
        "2024-02-29x",
        "2024-02-29 25:00",
        "1/2/24",
        "12345678",
        "2024-2/9"})
    EXPECT_EQ(date_forms(none), 0) << none;
}

} // namespace
} // namespace temper::data
