#include "temper/data/source/folder_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "tests/complaint.h"
#include "tests/data/small_image.h"
#include "tests/shared_data.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using tests::complaint;
using tests::photographs;
using tests::TempFolder;

std::vector<std::string> names(const IndexedSource& source, std::size_t skip) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < source.size(); ++i)
    all.push_back(source.describe(i).substr(skip));
  return all;
}

TEST(FolderSource, ClassesAndFilesComeInTheOrderOfTorchvision) {
  const TempFolder folder;
  // '-' sorts before '/', so a-b/ comes before what is in a/.
  for (const char* name :
       {"dog/2.ppm",
        "dog/10.ppm",
        "cat/a/x/1.ppm",
        "cat/a-b/1.ppm",
        "cat/a/1.ppm",
        "cat/z.PPM",
        "Cow/1.ppm"})
    folder.write(name, small_image(7));
  folder.write("cat/notes.txt", "not an image");
  folder.write("cat/.hidden.ppm", small_image(7));
  folder.write(".git/1.ppm", small_image(7));

  const FolderSource source(folder.text());
  EXPECT_THAT(source.info().classes, ElementsAre("Cow", "cat", "dog"));
  EXPECT_THAT(
      names(source, folder.text().size() + 1),
      ElementsAre(
          "Cow/1.ppm",
          "cat/z.PPM",
          "cat/a/1.ppm",
          "cat/a-b/1.ppm",
          "cat/a/x/1.ppm",
          "dog/10.ppm",
          "dog/2.ppm"));
  EXPECT_EQ(source.label(0), 0);
  EXPECT_EQ(source.label(1), 1);
  EXPECT_EQ(source.label(4), 1);
  EXPECT_EQ(source.label(6), 2);
}

TEST(FolderSource, ReadsPixelsAndLabels) {
  const TempFolder folder;
  folder.write("a/1.png", small_image(40)); // known by its bytes
  folder.write("b/1.ppm", small_image(50, 3, 2));
  const FolderSource source(folder.text());
  Sample sample;
  source.read(1, sample);
  EXPECT_EQ(sample.label, 1);
  EXPECT_EQ(sample.image.width(), 3);
  EXPECT_EQ(sample.image.height(), 2);
  EXPECT_EQ(sample.image.channels(), 3);
  EXPECT_EQ(sample.image.pixels()[0], 50);
  source.read(0, sample);
  EXPECT_EQ(sample.label, 0);
  EXPECT_EQ(sample.image.pixels()[0], 40);
}

TEST(FolderSource, TrainAndValidationFoldersAreTaken) {
  for (const char* name : {"val", "valid", "validation"}) {
    const TempFolder folder;
    folder.write("train/a/1.ppm", small_image(1));
    folder.write("train/b/1.ppm", small_image(2));
    folder.write(cat(name, "/b/9.ppm"), small_image(3));
    const Splits parts = open_source(cat("folder:", folder.text(), "/"), {});
    EXPECT_EQ(parts.train->size(), 2);
    ASSERT_EQ(parts.val->size(), 1);
    // Numbered as in training, although it is the only class here.
    EXPECT_EQ(parts.val->label(0), 1);
    EXPECT_THAT(parts.val->info().classes, ElementsAre("a", "b"));
  }
}

TEST(FolderSource, AValidationClassThatTrainingLacksIsNotScored) {
  const TempFolder folder;
  folder.write("train/horse/1.ppm", small_image(1));
  folder.write("val/horse/1.ppm", small_image(1));
  folder.write("val/hrose/9.ppm", small_image(3));
  const std::string source = cat("folder:", folder.text());
  const Splits parts = open_source(source, {});
  EXPECT_EQ(parts.val->size(), 1);
  EXPECT_THAT(
      parts.notes,
      ElementsAre(AllOf(
          HasSubstr("1 of 2 samples has a class that training lacks"),
          HasSubstr("hrose (1)"))));
  OpenOptions strict;
  strict.unseen_is_error = true;
  EXPECT_THAT(
      complaint([&] { open_source(source, strict); }), HasSubstr("hrose (1)"));
}

TEST(FolderSource, WithoutAValidationFolderTheSeedDivides) {
  const TempFolder folder;
  for (int i = 0; i < 20; ++i)
    folder.write(cat("train/a/", i, ".ppm"), small_image(i));
  OpenOptions options;
  options.val_fraction = 0.25;
  const Splits parts = open_folder(folder.text(), options);
  EXPECT_EQ(parts.train->size(), 15);
  EXPECT_EQ(parts.val->size(), 5);
  EXPECT_THAT(parts.train->info().classes, ElementsAre("a"));
}

TEST(FolderSource, ATestFolderDoesNotValidate) {
  const TempFolder folder;
  for (int i = 0; i < 20; ++i)
    folder.write(
        cat("train/", i % 2 == 0 ? "a/" : "b/", i, ".ppm"), small_image(i));
  folder.write("test/a/1.ppm", small_image(99));
  const Splits parts = open_folder(folder.text(), {});
  EXPECT_EQ(parts.train->size() + parts.val->size(), 20);
  EXPECT_EQ(parts.val->size(), 2);
  EXPECT_THAT(parts.train->info().classes, ElementsAre("a", "b"));
  EXPECT_THAT(parts.notes, ElementsAre(HasSubstr("part of train/ validates")));
  EXPECT_EQ(parts.test, cat("folder:", folder.text("test")));
  folder.write("val/a/1.ppm", small_image(98));
  const Splits three = open_folder(folder.text(), {});
  EXPECT_EQ(three.train->size(), 20);
  EXPECT_EQ(three.val->size(), 1);
  EXPECT_EQ(three.test, cat("folder:", folder.text("test")));
  EXPECT_THAT(three.notes, testing::IsEmpty());
}

TEST(FolderSource, AClassMayBeCalledTrain) {
  const TempFolder folder;
  for (const char* name : {"car", "plane", "train"})
    folder.write(cat(name, "/1.ppm"), small_image(1));
  const Splits parts = open_folder(folder.text(), {});
  EXPECT_THAT(
      parts.train->info().classes, ElementsAre("car", "plane", "train"));
}

TEST(FolderSource, ABadFileIsNamedWithItsReason) {
  const TempFolder folder;
  folder.write("a/1.jpg", "P6 100 100 255\nfew");
  folder.write("a/2.jpg", small_image(1));
  const FolderSource source(folder.text());
  std::filesystem::remove(folder.text("a/2.jpg"));
  Sample sample;
  EXPECT_EQ(
      complaint([&] { source.read(0, sample); }),
      cat("[data] cannot decode ",
          folder.text("a/1.jpg"),
          ": truncated after 18 bytes. Remove it, or run with data.bad = "
          "\"skip\"."));
  EXPECT_THROW(source.read(1, sample), BadSample);
  EXPECT_THAT(
      complaint([&] { source.read(1, sample); }),
      HasSubstr("No such file or directory"));
}

TEST(FolderSource, FoldersWithoutClassesOrImagesAreRefused) {
  const TempFolder folder;
  EXPECT_THAT(
      complaint([&] { open_folder(folder.text("none"), {}); }),
      AllOf(HasSubstr("cannot list"), HasSubstr("No such file")));
  EXPECT_THAT(
      complaint([&] { open_folder(folder.text(), {}); }),
      HasSubstr("has no class folders"));
  folder.write("1.jpg", small_image(1));
  EXPECT_THAT(
      complaint([&] { open_folder(folder.text(), {}); }),
      AllOf(HasSubstr("1 image and no class folders"), HasSubstr("cat/1.jpg")));
  folder.write("empty/notes.txt", "");
  EXPECT_THAT(
      complaint([&] { open_folder(folder.text(), {}); }),
      HasSubstr("have no images: empty."));
}

TEST(FolderSource, AnEmptyClassAndFilesThatAreNotUsedAreTold) {
  const TempFolder folder;
  folder.write("cat/1.jpg", small_image(1));
  folder.write("cat/2.gif", "GIF89a");
  folder.write("cat/deeper/3.GIF", "GIF89a");
  folder.write("cat/notes.txt", "");
  folder.write("cat/.hidden", "");
  folder.write("dog/1.jpg", small_image(2));
  std::filesystem::create_directory(folder.text("emptyclass"));
  const FolderSource source(folder.text());
  EXPECT_EQ(source.size(), 2);
  EXPECT_THAT(source.info().classes, ElementsAre("cat", "dog", "emptyclass"));
  EXPECT_THAT(
      source.notes(),
      ElementsAre(
          cat(folder.text("emptyclass"), " has no images"),
          AllOf(
              HasSubstr("3 files in the class folders of"),
              HasSubstr("are not used"),
              HasSubstr("2 .gif, 1 .txt"))));
}

TEST(FolderSource, ImagesBesideTheClassFoldersAreSaidToBeUnused) {
  const TempFolder folder;
  folder.write("a/1.jpg", small_image(1));
  folder.write("a/2.jpg", small_image(2));
  folder.write("stray.jpg", small_image(1));
  const FolderSource source(folder.text());
  EXPECT_EQ(source.size(), 2);
  EXPECT_THAT(source.notes(), ElementsAre(HasSubstr("1 image outside")));
  EXPECT_THAT(
      open_folder(folder.text(), {}).notes,
      ElementsAre(HasSubstr("1 image outside")));
}

TEST(FolderSource, LinksAreFollowedAndALoopOfThemIsRefused) {
  const TempFolder folder;
  folder.write("a/inner/1.ppm", small_image(1));
  std::filesystem::create_directory_symlink(
      folder.text("a/inner"), folder.text("b"));
  EXPECT_EQ(FolderSource(folder.text()).size(), 2);
  std::filesystem::create_directory_symlink(
      folder.text("a"), folder.text("a/inner/up"));
  EXPECT_THAT(
      complaint([&] { FolderSource(folder.text()); }),
      HasSubstr("a/inner/up leads back to a folder above it"));
}

TEST(FolderSource, ALinkToNothingIsABadSampleAndAPipeIsNone) {
  const TempFolder folder;
  folder.write("a/1.ppm", small_image(1));
  std::filesystem::create_symlink("nowhere", folder.text("a/2.ppm"));
  ASSERT_EQ(::mkfifo(folder.text("a/3.ppm").c_str(), 0600), 0);
  const FolderSource source(folder.text());
  ASSERT_EQ(source.size(), 2);
  Sample sample;
  EXPECT_THROW(source.read(1, sample), BadSample);
  // A pipe that takes the place of a file later does not block the reader.
  std::filesystem::remove(folder.text("a/1.ppm"));
  ASSERT_EQ(::mkfifo(folder.text("a/1.ppm").c_str(), 0600), 0);
  EXPECT_THAT(
      complaint([&] { source.read(0, sample); }), HasSubstr("not a file"));
}

TEST(FolderSource, AFolderThatCannotBeReadIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempFolder folder;
  folder.write("a/1.ppm", small_image(1));
  std::filesystem::permissions(folder.text("a"), std::filesystem::perms::none);
  const std::string text = complaint([&] { FolderSource(folder.text()); });
  std::filesystem::permissions(
      folder.text("a"), std::filesystem::perms::owner_all);
  EXPECT_THAT(text, AllOf(HasSubstr("/a"), HasSubstr("Permission denied")));
}

TEST(FolderSource, TheFingerprintFollowsContentsInTheirOrder) {
  const TempFolder folder;
  folder.write("a/1.ppm", small_image(1));
  folder.write("a/2.ppm", small_image(2));
  const auto fingerprint = [&] {
    return FolderSource(folder.text()).fingerprint();
  };
  const std::uint64_t first = fingerprint();
  EXPECT_EQ(fingerprint(), first);
  folder.write("a/2.ppm", small_image(1, 3, 3));
  const std::uint64_t second = fingerprint();
  EXPECT_NE(second, first);
  std::filesystem::rename(folder.text("a/2.ppm"), folder.text("a/3.ppm"));
  EXPECT_EQ(fingerprint(), second);
  std::filesystem::rename(folder.text("a/3.ppm"), folder.text("a/0.ppm"));
  EXPECT_NE(fingerprint(), second);
}

TEST(FolderSource, ClassesHaveNamesInUtf8WhateverTheDiskHas) {
  const TempFolder folder;
  folder.write("Z\xfcrich/1.ppm", small_image(1));
  folder.write("K\xc3\xb6ln/1.ppm", small_image(2));
  const FolderSource source(folder.text());
  EXPECT_THAT(
      source.info().classes, ElementsAre("K\xc3\xb6ln", "Z\xc3\xbcrich"));
  Sample sample;
  source.read(1, sample);
  EXPECT_EQ(sample.image.pixels()[0], 1) << "the folder has its own name";
}

TEST(FolderSource, NamesOfAnyLengthAreKept) {
  NameList list;
  for (int i = 0; i < 1000; ++i)
    list.add(cat("n01440764_", i, ".JPEG"));
  list.add(std::string(300'000, 'x'));
  list.add("last");
  EXPECT_EQ(list[0], "n01440764_0.JPEG");
  EXPECT_EQ(list[999], "n01440764_999.JPEG");
  EXPECT_EQ(list[1000].size(), 300'000U);
  EXPECT_EQ(list[1001], "last");
}

TEST(FolderSource, PhotographsAreReadByClass) {
  const auto folder = photographs();
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no photographs at " << folder
                 << "; TEMPER_SHARED_DATA says where they are";
  const Splits parts = open_folder(folder.string(), {});
  EXPECT_GT(parts.train->size(), parts.val->size());
  EXPECT_EQ(parts.train->info().classes, parts.val->info().classes);
  Sample sample;
  for (std::int64_t i = 0; i < parts.val->size(); i += 10) {
    parts.val->read(i, sample);
    EXPECT_GT(sample.image.bytes(), 0U);
    EXPECT_EQ(sample.image.channels(), 3);
    EXPECT_THAT(parts.val->describe(i), EndsWith(".JPEG"));
  }
}

} // namespace
} // namespace temper::data
