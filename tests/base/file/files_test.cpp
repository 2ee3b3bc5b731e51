#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/file/mapped_file.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  int entries() const {
    return static_cast<int>(std::distance(
        fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  tests::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

TEST_F(Files, AnAtomicFileAppearsOnlyWhenCommitted) {
  const fs::path path = folder_ / "a";
  {
    AtomicFile file(path);
    file.write("hello ");
    file.write("world");
    file.write_at(0, "J", 1);
    EXPECT_EQ(file.size(), 11U);
    EXPECT_FALSE(fs::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_small_file(path), "Jello world");
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, AnAbandonedAtomicFileLeavesTheOldOne) {
  const fs::path path = folder_ / "a";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("half of the n");
  }
  EXPECT_EQ(read_small_file(path), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, APlaceThatCannotBeWrittenIsAnError) {
  try {
    AtomicFile file(folder_ / "no" / "such" / "folder");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("No such file or directory"));
  }
}

TEST_F(Files, AMappedFileShowsItsBytes) {
  write_file_atomically(folder_ / "a", "bytes");
  MappedFile file(folder_ / "a");
  MappedFile moved(std::move(file));
  ASSERT_EQ(moved.size(), 5U);
  EXPECT_EQ(moved.bytes()[4], 's');
  moved.expect_random_access();
  write_file_atomically(folder_ / "empty", "");
  EXPECT_EQ(MappedFile(folder_ / "empty").size(), 0U);
}

TEST_F(Files, AMissingFileGetsTheNearestOneOrWhereItsPathBegins) {
  write_file_atomically(folder_ / "house.csv", "x");
  try {
    const MappedFile file(folder_ / "huose.csv");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("[files] cannot read "));
    EXPECT_THAT(
        error.hint(),
        testing::HasSubstr((folder_ / "house.csv").string() + "?"));
  }
  try {
    const MappedFile file("surely/not/here.tpk");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(
        error.hint(),
        testing::HasSubstr(std::filesystem::current_path().string()));
  }
}

TEST_F(Files, APipeInThePlaceOfAFileIsRefusedAtOnce) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(MappedFile{pipe}, Error);
}

TEST_F(Files, WhatCannotBeMappedIsAnErrorWithItsName) {
  EXPECT_THROW(MappedFile(folder_ / "absent"), Error);
  try {
    const MappedFile file(folder_);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(folder_.string()));
    EXPECT_THAT(error.what(), testing::HasSubstr("not a file"));
  }
}

TEST(Hash, IsXxh3AndTheSameInPieces) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ULL); // XXH3's published value
  Hasher pieces;
  pieces.add("ab", 2);
  pieces.add("c", 1);
  EXPECT_EQ(pieces.value(), hash64("abc"));
}

TEST(Hash, TextsAreAddedWithTheirLengths) {
  Hasher a;
  a.add(std::string_view("ab"));
  a.add(std::string_view("c"));
  Hasher b;
  b.add(std::string_view("a"));
  b.add(std::string_view("bc"));
  EXPECT_NE(a.value(), b.value());
}

} // namespace
} // namespace temper
