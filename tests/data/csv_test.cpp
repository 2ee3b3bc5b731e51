#include "temper/data/csv.h"

#include <gmock/gmock.h>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/csv_source.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  CsvSource open(const std::string& text, const std::string& target = "") {
    return CsvSource(folder_.write("a.csv", text), target);
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
  const CsvSource source = open(
      "age,colour,weight,kind\n"
      "1,red,0.5,b\n"
      "2,blue,1.5,a\n"
      "3,red,2.5,b\n");
  EXPECT_THAT(
      source.feature_names(),
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
  std::string said;
  auto before =
      log::set_sink([&](log::Level, const std::string& line) { said += line; });
  const CsvSource source =
      open("a,b,c,y\n1,x,NA,0.1\n,y,nan,0.2\n4,?,null,0.3\n");
  log::set_sink(before);
  EXPECT_THAT(said, HasSubstr("5 missing values in 3 columns"));
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
  const CsvSource source = open(text);
  EXPECT_THAT(source.info().classes, ElementsAre("2", "9", "10"));
  EXPECT_EQ(source.label(0), 2);
  EXPECT_EQ(source.label(3), 1);
  EXPECT_EQ(open(text, "y:number").info().target, Target::numbers);
  // Each comes up once: a quantity, unless it is said to be a class.
  const std::string once = "x,y\n1,10\n2,9\n3,8\n";
  EXPECT_EQ(open(once).info().target, Target::numbers);
  EXPECT_EQ(open(once, "y:class").info().classes.size(), 3U);
  EXPECT_EQ(open(once, ":class").info().classes.size(), 3U);
}

TEST_F(CsvFile, TheTargetMayBeAnyColumn) {
  const CsvSource source = open("kind;x;y\na;1;2\nb;3;4.5\n", "kind");
  EXPECT_THAT(source.feature_names(), ElementsAre("x", "y"));
  EXPECT_THAT(source.info().classes, ElementsAre("a", "b"));
  EXPECT_THAT(
      refusal("kind,x\na,1\n", "knd"), HasSubstr("Did you mean 'kind'?"));
  EXPECT_THAT(refusal("a,a,b\n1,2,3\n", "a"), HasSubstr("two"));
  EXPECT_THAT(refusal("x,y\n1,a\n", "y:number"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("x,y\n1,.5\n", "y:class"), HasSubstr("fractions"));
}

TEST_F(CsvFile, AFirstRowOfNumbersIsData) {
  const CsvSource source = open(
      "\xef\xbb\xbf"
      "5.1,3.5,setosa\n4.9,3.0,other\n");
  EXPECT_EQ(source.size(), 2);
  EXPECT_THAT(source.feature_names(), ElementsAre("column 1", "column 2"));
  Sample sample;
  source.read(0, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(5.1F, 3.5F));
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

TEST_F(CsvFile, TextOfTooManyValuesSaysWhereItBegan) {
  std::string text = "id,y\n0,0.5\n";
  for (int i = 0; i < 65; ++i)
    text += cat("name ", i, ",0.5\n");
  EXPECT_THAT(
      refusal(text),
      AllOf(
          HasSubstr("column 'id'"),
          HasSubstr("line 3 says 'name 0'"),
          HasSubstr("more than 64")));
}

} // namespace
} // namespace temper::data
