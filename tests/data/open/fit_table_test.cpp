// Another table means what the training table meant: columns by name,
// categories, dates and numbers as training has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/data/open/fit.h"
#include "temper/data/open/open.h"
#include "temper/data/sample/schema.h"
#include "tests/complaint.h"
#include "tests/data/open/table_file.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::complaint;
using tests::TempFolder;

class OtherTable : public testing::Test {
 protected:
  void SetUp() override {
    OpenOptions options;
    options.val_fraction = 0;
    options_.schema = open_source(
                          cat("csv:",
                              table_of(
                                  folder_,
                                  "tr.csv",
                                  "x,city,y",
                                  {"1,rome,0.5", "2,oslo,1.5", "6,bern,2.5"})),
                          options)
                          .schema;
  }
  std::shared_ptr<const IndexedSource> open(
      const std::string& header,
      const std::vector<std::string>& rows) {
    return open_other(
        cat("csv:", table_of(folder_, "va.csv", header, rows)),
        "test",
        options_,
        notes_);
  }

  TempFolder folder_;
  OpenOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(OtherTable, AnUnseenCategoryIsNoCategoryAndCounted) {
  const auto other = open("x,city,y", {"3,paris,1", "3,oslo,2"});
  Sample sample;
  other->read(0, sample);
  const auto mean = testing::FloatNear(0, 1e-6F);
  EXPECT_THAT(sample.numbers, ElementsAre(mean, 0, 0, 0));
  other->read(9, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(mean, 0, 1, 0)); // bern, oslo, rome
  EXPECT_THAT(
      notes_,
      ElementsAre(AllOf(
          HasSubstr("test: column 'city' of 9 rows"), HasSubstr("paris (9)"))));
  options_.unseen_is_error = true;
  EXPECT_THAT(
      complaint([&] { open("x,city,y", {"3,paris,1"}); }),
      HasSubstr("paris (9)"));
}

TEST_F(OtherTable, AMissingColumnIsNamedAndAnotherOneNoted) {
  EXPECT_THAT(
      complaint([&] { open("x,town,y", {"3,oslo,1"}); }),
      AllOf(
          HasSubstr("lacks 1 column that training has: 'city'"),
          HasSubstr("Its columns are x, town, y")));
  EXPECT_THAT(
      complaint([&] { open("x,city,z", {"3,oslo,1"}); }),
      HasSubstr("no column 'y'"));
  open("extra,x,city,y", {"7,3,oslo,1"});
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("'extra'")));
}

TEST_F(OtherTable, TextWhereTrainingHasNumbersIsRefusedWithItsLine) {
  EXPECT_THAT(
      complaint([&] {
        open("x,city,y", {"3,oslo,1", "many,oslo,1"});
      }),
      AllOf(HasSubstr("column 'x'"), HasSubstr("line 11 says 'many'")));
}

TEST_F(OtherTable, CategoriesOfNumbersStayCategories) {
  OpenOptions options;
  options.val_fraction = 0;
  options_.schema =
      open_source(
          cat("csv:",
              table_of(folder_, "zip.csv", "zip,y", {"1a,p", "2,q", "3,p"})),
          options)
          .schema;
  const auto other = open("zip,y", {"3,p", "2,q"}); // no letter in it
  Sample sample;
  other->read(0, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(0, 0, 1));
}

// All days of the other table could be months, too.
TEST(OtherTableFile, DatesAreReadAsInTraining) {
  const TempFolder folder;
  OpenOptions options;
  options.val_fraction = 0;
  options.numbers.scale = false;
  const auto days = [&](const std::string& when) {
    std::vector<std::string> notes;
    const auto other = open_other(
        cat("csv:", table_of(folder, "va.csv", "when,y", {when + ",a"})),
        "validation",
        options,
        notes);
    Sample sample;
    other->read(0, sample);
    return std::pair(sample.numbers.at(0), notes);
  };
  const auto train = [&](const std::string& last) {
    OpenOptions fresh = options;
    fresh.schema = nullptr;
    return open_source(
        cat("csv:",
            table_of(folder, "tr.csv", "when,y", {"02/01/1970,a", last})),
        fresh);
  };
  Splits european = train("31/01/1970,b");
  EXPECT_EQ(european.schema->columns[0].form, "day/month/year");
  // As a resume has it.
  options.schema = std::make_shared<const Schema>(
      parse_schema(to_json(*european.schema), "schema.json"));
  EXPECT_EQ(days("03/01/1970").first, 2);
  EXPECT_THAT(days("03/01/1970").second, IsEmpty());
  EXPECT_EQ(days("1970-01-03").first, 2);
  EXPECT_THAT(
      days("01/13/1970").second,
      ElementsAre(HasSubstr("are month/day/year in")));
  const Splits american = train("01/31/1970,b");
  options.schema = american.schema;
  EXPECT_EQ(days("03/01/1970").first, 59);
  EXPECT_THAT(american.notes, IsEmpty());
  EXPECT_THAT(
      train("01/03/1970,b").notes,
      ElementsAre(HasSubstr("could be day/month/year as well")));
}

TEST(OtherTableFile, PointsBetweenThousandsAreThoseOfTraining) {
  const TempFolder folder;
  OpenOptions options;
  options.val_fraction = 0;
  options.numbers.scale = false;
  const auto train = open_source(
      cat("csv:", table_of(folder, "tr.csv", "x;y", {"1.234,5;a", "7,5;b"})),
      options);
  options.schema = std::make_shared<const Schema>(
      parse_schema(to_json(*train.schema), "schema.json"));
  std::vector<std::string> notes;
  const auto first = [&](const std::string& row) {
    const auto other = open_other(
        cat("csv:", table_of(folder, "va.csv", "x;y", {row})),
        "validation",
        options,
        notes);
    Sample sample;
    other->read(0, sample);
    return sample.numbers.at(0);
  };
  EXPECT_EQ(first("1.234;a"), 1234);
  EXPECT_EQ(first("1.5;a"), 1.5); // no place for thousands
}

TEST(OtherTableFile, ColumnsOfTheSameNameAreFoundAgain) {
  const TempFolder folder;
  OpenOptions options;
  options.val_fraction = 0;
  options.numbers.scale = false;
  const std::string table =
      table_of(folder, "tr.csv", "x,x,x.1,x,y", {"1,2,3,4,a", "5,6,7,8,b"});
  const auto train = open_source("csv:" + table, options);
  EXPECT_THAT(
      input_names(*train.schema), ElementsAre("x", "x.2", "x.1", "x.3"));
  EXPECT_THAT(train.notes, ElementsAre(HasSubstr("called 'x.2', 'x.3'")));
  options.schema = train.schema;
  const auto again = open_source("csv:" + table, options).train; // a resume
  Sample sample;
  again->read(0, sample);
  EXPECT_THAT(sample.numbers, ElementsAre(1, 2, 3, 4));
}

TEST(OtherTableFile, NamesInLatin1AreThoseOfUtf8) {
  const TempFolder folder;
  OpenOptions options;
  options.val_fraction = 0;
  const auto train = open_source(
      cat("csv:",
          table_of(
              folder,
              "tr.csv",
              "gr\xf6\xdf"
              "e,stadt,y",
              {"1,Z\xfcrich,sch\xf6n", "2,K\xf6ln,gut"})),
      options);
  EXPECT_THAT(train.notes, ElementsAre(HasSubstr("Windows-1252")));
  EXPECT_THAT(train.schema->classes, ElementsAre("gut", "sch\xc3\xb6n"));
  options.schema = std::make_shared<const Schema>(
      parse_schema(to_json(*train.schema), "schema.json"));
  EXPECT_EQ(*options.schema, *train.schema) << "so that a resume knows them";
  std::vector<std::string> notes;
  const auto other = open_other(
      cat("csv:",
          table_of(
              folder,
              "va.csv",
              "gr\xc3\xb6\xc3\x9f"
              "e,stadt,y",
              {"1,Z\xc3\xbcrich,sch\xc3\xb6n"})),
      "validation",
      options,
      notes);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(other->label(0), 1);
}

} // namespace
} // namespace temper::data
