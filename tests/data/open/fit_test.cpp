// Another source means what the training source meant: classes and columns by
// name, whatever their order and number, for every kind of source.
#include "temper/data/open/fit.h"
#include "tests/data/format/npy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "temper/data/pack/pack.h"
#include "tests/complaint.h"
#include "tests/data/format_bytes.h"
#include "tests/data/open/table_file.h"
#include "tests/data/small_image.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::complaint;
using tests::TempFolder;

// Training knows the classes 1 to 3, or a to c; the other source has 2, 3 and
// 9 samples of a class that training lacks.
struct KindOfSource {
  std::string name;
  std::function<std::string(const TempFolder&)> train;
  std::function<std::string(const TempFolder&)> other;
  // Which class a sample is, by its input.
  std::function<std::int64_t(const Sample&)> truth;
  std::string unseen; // its name
};

std::string folder_of(
    const TempFolder& folder,
    const std::string& name,
    const std::vector<std::pair<std::string, int>>& classes,
    int images) {
  for (const auto& [label, red] : classes)
    for (int i = 0; i < images; ++i)
      folder.write(cat(name, "/", label, "/", i, ".ppm"), small_image(red));
  return folder.text(name);
}

std::string tar_of(
    const TempFolder& folder,
    const std::string& name,
    const std::vector<int>& labels) {
  std::string tar;
  for (const int label : labels)
    for (int i = 0; i < 9; ++i) {
      const std::string key = cat(label, "-", i);
      tar += tar_member(key + ".ppm", small_image(label));
      tar += tar_member(key + ".cls", cat(label));
    }
  return folder.write(name, tar + tar_end()).string();
}

std::string arrays_of(
    const TempFolder& folder,
    const std::string& name,
    const std::vector<int>& labels) {
  const std::size_t count = labels.size() * 9;
  std::string x = npy_file("|u1", cat("(", count, ", 2, 2)"));
  std::string y = npy_file("|u1", cat("(", count, ",)"));
  for (const int label : labels)
    for (int i = 0; i < 9; ++i) {
      x += std::string(4, static_cast<char>(label));
      y += byte(label);
    }
  folder.write(cat(name, "/x.npy"), x);
  folder.write(cat(name, "/y.npy"), y);
  return folder.text(name);
}

std::int64_t red_of(const Sample& sample) {
  return sample.image.pixels()[0];
}

std::vector<KindOfSource> kinds() {
  return {
      {"folder",
       [](const TempFolder& folder) {
         return cat(
             "folder:",
             folder_of(folder, "tr", {{"a", 0}, {"b", 1}, {"c", 2}}, 9));
       },
       [](const TempFolder& folder) {
         return cat(
             "folder:",
             folder_of(folder, "va", {{"a0", 77}, {"b", 1}, {"c", 2}}, 9));
       },
       red_of,
       "a0"},
      {"pack",
       [](const TempFolder& folder) {
         const std::string from =
             cat("folder:",
                 folder_of(folder, "tr", {{"a", 0}, {"b", 1}, {"c", 2}}, 9));
         write_pack(open_source(from, {}), folder / "tr.tpk");
         return cat("pack:", folder.text("tr.tpk"));
       },
       [](const TempFolder& folder) {
         const std::string from =
             cat("folder:",
                 folder_of(folder, "va", {{"a0", 77}, {"b", 1}, {"c", 2}}, 9));
         write_pack(open_source(from, {}), folder / "va.tpk");
         return cat("pack:", folder.text("va.tpk"));
       },
       red_of,
       "a0"},
      {"tar",
       [](const TempFolder& folder) {
         return cat("tar:", tar_of(folder, "tr.tar", {0, 1, 2}));
       },
       [](const TempFolder& folder) {
         return cat("tar:", tar_of(folder, "va.tar", {5, 2, 1}));
       },
       red_of,
       "5"},
      {"npy",
       [](const TempFolder& folder) {
         return cat("npy:", arrays_of(folder, "tr", {0, 1, 2}));
       },
       [](const TempFolder& folder) {
         return cat("npy:", arrays_of(folder, "va", {2, 1, 4}));
       },
       red_of,
       "4"},
      {"csv_of_words",
       [](const TempFolder& folder) {
         return cat(
             "csv:",
             table_of(
                 folder,
                 "tr.csv",
                 "x,city,animal",
                 {"1,rome,a", "2,oslo,b", "2,bern,c"}));
       },
       [](const TempFolder& folder) { // other order, one category less
         return cat(
             "csv:",
             table_of(
                 folder,
                 "va.csv",
                 "animal,city,x",
                 {"yak,oslo,3", "c,bern,2", "b,oslo,3"}));
       },
       // The inputs are x, bern, oslo, rome.
       [](const Sample& sample) {
         return sample.numbers[3] == 1 ? 0 : sample.numbers[2] == 1 ? 1 : 2;
       },
       "yak"},
      {"csv_of_numbers",
       [](const TempFolder& folder) {
         return cat(
             "csv:",
             table_of(folder, "tr.csv", "x,y", {"10,1", "20,2", "30,3"}));
       },
       [](const TempFolder& folder) {
         return cat(
             "csv:",
             table_of(folder, "va.csv", "y,x", {"2,20", "3,30", "7,20"}));
       },
       [](const Sample& sample) {
         return static_cast<std::int64_t>(
             std::lround(static_cast<double>(sample.numbers[0]) + 1));
       },
       "7"},
  };
}

class OtherSource : public testing::TestWithParam<KindOfSource> {
 protected:
  void SetUp() override {
    OpenOptions options;
    options.val_fraction = 0;
    train_ = open_source(GetParam().train(folder_), options);
    options_.schema = train_.schema;
  }
  std::shared_ptr<const IndexedSource> open(const std::string& name) {
    return open_other(name, "validation", options_, notes_);
  }

  TempFolder folder_;
  Splits train_;
  OpenOptions options_;
  std::vector<std::string> notes_;
};

TEST_P(OtherSource, IsUsedWholeAndHasTheClassesOfTraining) {
  EXPECT_EQ(train_.train->size(), 27); // nothing is split off
  const auto other = open(GetParam().other(folder_));
  EXPECT_EQ(other->info().classes, train_.schema->classes);
  ASSERT_EQ(other->size(), 18);
  Sample sample;
  for (std::int64_t i = 0; i < other->size(); ++i) {
    other->read(i, sample);
    EXPECT_EQ(sample.label, GetParam().truth(sample)) << other->describe(i);
    EXPECT_EQ(other->label(i), sample.label);
  }
  EXPECT_THAT(
      notes_,
      testing::Contains(AllOf(
          HasSubstr("validation: 9 of 27 samples have a class that training "
                    "lacks"),
          HasSubstr(cat(GetParam().unseen, " (9)")),
          HasSubstr("not scored"))));
}

TEST_P(OtherSource, IsRefusedForWhatTrainingLacksWhereThatIsAskedFor) {
  options_.unseen_is_error = true;
  const std::string name = GetParam().other(folder_);
  EXPECT_THAT(
      complaint([&] { open(name); }),
      AllOf(
          HasSubstr(cat(GetParam().unseen, " (9)")), HasSubstr("data.unseen")));
}

TEST_P(OtherSource, OfTheTrainingFilesGivesTheSamplesOfTraining) {
  const auto same = open(GetParam().train(folder_));
  EXPECT_THAT(notes_, IsEmpty());
  ASSERT_EQ(same->size(), train_.train->size());
  std::multiset<std::pair<std::vector<float>, std::int64_t>> ours;
  std::multiset<std::pair<std::vector<float>, std::int64_t>> theirs;
  Sample sample;
  for (std::int64_t i = 0; i < same->size(); ++i) {
    same->read(i, sample);
    ours.emplace(sample.numbers, sample.label);
    train_.train->read(i, sample);
    theirs.emplace(sample.numbers, sample.label);
  }
  EXPECT_EQ(ours, theirs);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    OtherSource,
    testing::ValuesIn(kinds()),
    [](const auto& each) { return each.param.name; });

TEST(Limits, TakeSamplesOfAllClassesFromSortedFolders) {
  const TempFolder folder;
  folder_of(folder, "p/train", {{"a", 0}, {"b", 1}, {"c", 2}}, 30);
  folder_of(folder, "p/val", {{"a", 0}, {"b", 1}, {"c", 2}}, 30);
  OpenOptions options;
  options.limit = 20;
  options.limit_val = 20;
  const Splits parts = open_source(cat("folder:", folder.text("p")), options);
  for (const auto* part : {parts.train.get(), parts.val.get()}) {
    ASSERT_EQ(part->size(), 20);
    std::set<std::int64_t> labels;
    for (std::int64_t i = 0; i < part->size(); ++i)
      labels.insert(*part->label(i));
    EXPECT_EQ(labels.size(), 3U);
  }
}

TEST(OtherText, HasTheCharactersOfTraining) {
  const TempFolder folder;
  OpenOptions options;
  options.sequence = 2;
  options.val_fraction = 0;
  const auto train = open_source(
      cat("text:chars:", folder.write("tr.txt", "cabcab").string()), options);
  EXPECT_THAT(train.schema->vocabulary, ElementsAre("a", "b", "c"));
  options.schema = train.schema;
  std::vector<std::string> notes;
  const auto other = open_other(
      cat("text:chars:",
          folder
              .write(
                  "va.txt",
                  "b\xc3\xa9"
                  "cxbxc")
              .string()),
      "validation",
      options,
      notes);
  EXPECT_EQ(other->info().vocabulary, 3);
  Sample sample;
  other->read(0, sample);
  EXPECT_THAT(
      sample.tokens, ElementsAre(1, 2)); // b, c: what was between is out
  EXPECT_THAT(
      notes,
      ElementsAre(AllOf(HasSubstr("3 characters"), HasSubstr("'x' (2)"))));
  EXPECT_THAT(
      complaint([&] {
        open_other(
            cat("text:", folder.text("va.txt")), "validation", options, notes);
      }),
      HasSubstr("training has characters, and these are bytes"));
}

TEST(OtherImages, OfOtherChannelsOrKindsAreRefused) {
  const TempFolder folder;
  OpenOptions options;
  options.val_fraction = 0;
  options.schema =
      open_source(
          cat("folder:", folder_of(folder, "tr", {{"0", 1}, {"1", 2}}, 3)),
          options)
          .schema;
  std::vector<std::string> notes;
  const std::string grey = cat("npy:", arrays_of(folder, "va", {0, 1}));
  EXPECT_THAT(
      complaint([&] { open_other(grey, "validation", options, notes); }),
      HasSubstr("has 1 channel, and training has 3"));
  const std::string table =
      cat("csv:", table_of(folder, "t.csv", "x,y", {"1,a", "2,b"}));
  EXPECT_THAT(
      complaint([&] { open_other(table, "validation", options, notes); }),
      HasSubstr("is a table, and the training data is not"));
}

TEST(OtherImages, OfAFolderWithTrainAndTestSayWhichIsUsed) {
  const TempFolder folder;
  OpenOptions options;
  options.val_fraction = 0;
  const std::vector<std::pair<std::string, int>> classes{{"0", 1}, {"1", 2}};
  options.schema =
      open_source(cat("folder:", folder_of(folder, "tr", classes, 3)), options)
          .schema;
  folder_of(folder, "va/train", classes, 4);
  folder_of(folder, "va/test", classes, 1);
  std::vector<std::string> notes;
  const auto other = open_other(
      cat("folder:", folder.text("va")), "validation", options, notes);
  EXPECT_EQ(other->size(), 8);
  EXPECT_THAT(
      notes,
      ElementsAre(AllOf(
          HasSubstr("its train/ is used"),
          HasSubstr(cat("folder:", folder.text("va/test"))))));
}

TEST(ArrayImages, OfFloatsComeAsChannelsRowsAndColumns) {
  const TempFolder folder;
  // One sample of 5 x 5 x 2 whose values are 100 * channel + pixel.
  std::string hwc = npy_file("<f4", "(1, 5, 5, 2)");
  for (int pixel = 0; pixel < 25; ++pixel)
    for (int channel = 0; channel < 2; ++channel) {
      const auto value = static_cast<float>(100 * channel + pixel);
      hwc.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
  folder.write("x.npy", hwc);
  folder.write("y.npy", npy_file("|u1", "(1,)") + byte(0));
  OpenOptions options;
  options.val_fraction = 0;
  options.numbers.scale = false;
  const std::string name = cat("npy:", folder.text());
  EXPECT_THAT(
      open_source(name, options).train->info().shape, ElementsAre(5, 5, 2));
  options.numbers.as_images = true;
  const Splits images = open_source(name, options);
  EXPECT_THAT(images.train->info().shape, ElementsAre(2, 5, 5));
  EXPECT_EQ(images.schema->array->order, "HWC");
  Sample sample;
  images.train->read(0, sample);
  EXPECT_EQ(sample.numbers[24], 24);
  EXPECT_EQ(sample.numbers[25], 100);
  // Far from a deviation of 1: standardised, each channel by itself.
  options.numbers.scale = true;
  open_source(name, options).train->read(0, sample);
  EXPECT_NEAR(sample.numbers[12], 0, 1e-5);
  EXPECT_NEAR(sample.numbers[25 + 12], 0, 1e-5);
  EXPECT_NEAR(sample.numbers[0], -12 / std::sqrt(52.0), 1e-5);
}

} // namespace
} // namespace temper::data
