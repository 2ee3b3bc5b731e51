#include "temper/data/content/content.h"

#include <gmock/gmock.h>

#include "edited_sources.h"
#include "temper/base/digest/hash.h"
#include "temper/base/file/file_stamp.h"
#include "temper/data/content/sum_memory.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;
using tests::TempFolder;

constexpr int kLabel = 1;
constexpr int kPixel = 13;

// Every kind of source, edited in every way.
class EditedSource : public ::testing::TestWithParam<EditedKind> {
 protected:
  EditedSource() {
    write_files(folder_ / "data", GetParam().files(kLabel, kPixel));
  }

  std::uint64_t fingerprint(const std::string& folder = "data") const {
    return open_edited(GetParam().source, folder_ / folder)->fingerprint();
  }
  fs::path pixels() const {
    return folder_ / "data" / GetParam().pixels_in;
  }
  // What the same data holds with another pixel.
  std::string other_pixels() const {
    return GetParam().files(kLabel, 15).at(GetParam().pixels_in);
  }
  timespec modified(const fs::path& file) const {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return {status.st_mtime, 123456789};
  }

  TempFolder folder_;
};

TEST_P(EditedSource, AnotherLabelIsOtherData) {
  const std::uint64_t before = fingerprint();
  fs::remove_all(folder_ / "data");
  const Files now = GetParam().files(0, kPixel);
  write_files(folder_ / "data", now);
  if (!GetParam().labels_in.empty()) {
    EXPECT_EQ(
        now.at(GetParam().labels_in).size(),
        GetParam().files(kLabel, kPixel).at(GetParam().labels_in).size());
  }
  EXPECT_NE(fingerprint(), before);
}

TEST_P(EditedSource, AnotherPixelIsOtherData) {
  const std::uint64_t before = fingerprint();
  ASSERT_EQ(other_pixels().size(), fs::file_size(pixels()));
  tests::write_bytes(pixels(), other_pixels());
  EXPECT_NE(fingerprint(), before);
}

TEST_P(EditedSource, AnEditThatKeepsTheTimeOfTheFileIsNoticed) {
  set_modified(pixels(), modified(pixels()));
  const timespec time = modified(pixels());
  const std::uint64_t before = fingerprint();
  tests::write_bytes(pixels(), other_pixels());
  set_modified(pixels(), time);
  EXPECT_NE(fingerprint(), before);
}

TEST_P(EditedSource, AReplacementThatKeepsTheTimeOfTheFileIsNoticed) {
  set_modified(pixels(), modified(pixels()));
  const timespec time = modified(pixels());
  const std::uint64_t before = fingerprint();
  tests::write_bytes(folder_ / "other", other_pixels());
  set_modified(folder_ / "other", time);
  fs::rename(folder_ / "other", pixels());
  EXPECT_NE(fingerprint(), before);
}

TEST_P(EditedSource, TouchedFilesAreTheSameData) {
  const std::uint64_t before = fingerprint();
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "data"))
    if (entry.is_regular_file()) set_modified(entry.path(), {1'000'000, 5});
  EXPECT_EQ(fingerprint(), before);
}

TEST_P(EditedSource, ACopyAndAMovedFolderAreTheSameData) {
  const std::uint64_t before = fingerprint();
  fs::copy(folder_ / "data", folder_ / "copy", fs::copy_options::recursive);
  EXPECT_EQ(fingerprint("copy"), before);
  fs::remove_all(folder_ / "data");
  fs::rename(folder_ / "copy", folder_ / "moved");
  EXPECT_EQ(fingerprint("moved"), before);
}

TEST_P(EditedSource, AnotherNameOfTheFileIsTheSameData) {
  if (GetParam().renamed.empty()) return; // its names have a meaning
  const std::uint64_t before = fingerprint();
  fs::rename(pixels(), folder_ / "data" / GetParam().renamed);
  EXPECT_EQ(
      open_edited(GetParam().renamed_source, folder_ / "data")->fingerprint(),
      before);
}

TEST_P(EditedSource, SaysWhichFileHoldsSomethingElse) {
  const auto before = open_edited(GetParam().source, folder_ / "data");
  ASSERT_NE(before->content(), nullptr);
  const auto prints = before->content()->prints();
  tests::write_bytes(pixels(), other_pixels());
  const auto now = open_edited(GetParam().source, folder_ / "data");
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < prints.size(); ++i)
    if (prints[i].sum != now->content()->prints()[i].sum)
      changed.push_back(now->content()->file(i).name);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_THAT(changed[0], ::testing::StartsWith(GetParam().pixels_in));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    EditedSource,
    ::testing::ValuesIn(edited_kinds()),
    [](const auto& kind) { return kind.param.name; });

TEST(EditedFolder, AnotherNameOfAClassIsOtherData) {
  const TempFolder folder;
  write_files(folder.path(), edited_folder(kLabel, kPixel));
  const auto before = open_edited("folder:%", folder.path())->fingerprint();
  fs::rename(folder / "class1", folder / "class2");
  EXPECT_NE(open_edited("folder:%", folder.path())->fingerprint(), before);
}

// Contents of one file in a folder with a memory of its own.
class RememberedContent : public ::testing::Test {
 protected:
  Content content() const {
    return Content(
        1,
        [this](std::size_t) {
          return ContentFile{"a", file_};
        },
        options_);
  }
  std::uint64_t sum() const {
    return content().prints().at(0).sum;
  }

  TempFolder folder_;
  std::string file_ = folder_.write("data/a", "first").string();
  ContentOptions options_{
      1000,
      0,
      0,
      folder_ / "memory",
      wall_clock_ns() + 3'600'000'000'000};
};

TEST_F(RememberedContent, ASettledFileIsReadOnce) {
  EXPECT_EQ(sum(), hash64("first"));
  EXPECT_FALSE(fs::is_empty(options_.memory));
  // Another sum in the memory shows that the file is not read again.
  SumMemory memory(options_.memory, file_);
  memory.remember(file_, *file_stamp(file_), 42);
  memory.save();
  EXPECT_EQ(sum(), 42U);
}

TEST_F(RememberedContent, AnotherFileOfTheSameSizeAndTimeIsRead) {
  set_modified(file_, {1'000'000, 5});
  EXPECT_EQ(sum(), hash64("first"));
  folder_.write("data/b", "other");
  set_modified(folder_ / "data/b", {1'000'000, 5});
  fs::rename(folder_ / "data/b", file_);
  EXPECT_EQ(sum(), hash64("other"));
}

TEST_F(RememberedContent, AFileWrittenJustNowIsReadEveryTime) {
  options_.now_ns = file_stamp(file_)->changed_ns + 1'000'000'000;
  EXPECT_EQ(sum(), hash64("first"));
  EXPECT_FALSE(fs::exists(options_.memory));
}

TEST_F(RememberedContent, ADamagedMemoryIsNoMemory) {
  sum();
  for (const auto& entry : fs::directory_iterator(options_.memory)) {
    std::string bytes = tests::read_bytes(entry.path());
    bytes[bytes.size() - 9] ^= 1;
    tests::write_bytes(entry.path(), bytes);
  }
  EXPECT_EQ(sum(), hash64("first"));
}

TEST_F(RememberedContent, TooMuchToReadIsKnownByItsTimes) {
  options_.most_bytes = 4;
  const Content before = content();
  EXPECT_FALSE(before.was_read());
  folder_.write("data/b", "other");
  fs::rename(folder_ / "data/b", file_);
  const Content now = content();
  EXPECT_EQ(now.value(), before.value()); // names and sizes
  EXPECT_NE(now.value_here(), before.value_here());
}

TEST(Content, AFileThatCannotBeReadCountsAsOne) {
  const TempFolder folder;
  const Content content(
      1,
      [&](std::size_t) {
        return ContentFile{"a", folder.text("a")};
      },
      ContentOptions{});
  EXPECT_EQ(content.prints().at(0).bytes, 0U);
  const std::uint64_t missing = content.value();
  folder.write("a", "");
  EXPECT_NE(
      Content(
          1,
          [&](std::size_t) {
            return ContentFile{"a", folder.text("a")};
          },
          ContentOptions{})
          .value(),
      missing);
}

} // namespace
} // namespace temper::data
