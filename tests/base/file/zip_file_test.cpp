#include "temper/base/file/zip_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "temper/base/error.h"
#include "temper/base/file/zip_writer.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ZipFiles : public ::testing::Test {
 protected:
  ZipFiles() {
    std::string pattern =
        (fs::temp_directory_path() / "temper-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~ZipFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path archive(
      const std::vector<std::pair<std::string, std::string>>& entries) const {
    const auto path = folder_ / "a.zip";
    ZipWriter zip(path);
    for (const auto& [name, text] : entries)
      zip.add(name, text);
    zip.commit();
    return path;
  }

  static std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path rewritten(const std::string& bytes) const {
    std::ofstream(folder_ / "a.zip", std::ios::binary) << bytes;
    return folder_ / "a.zip";
  }

  static std::string text_of(const ZipFile& zip, const std::string& name) {
    const auto bytes = zip.read(*zip.find(name));
    return {reinterpret_cast<const char*>(bytes.data.get()), bytes.size};
  }

  static ZipFile open(const fs::path& path) {
    return {path, "test", "Do it again."};
  }

  static std::string refusal(const fs::path& path) {
    try {
      const ZipFile zip = open(path);
      for (const auto& entry : zip.entries())
        zip.read(entry);
    } catch (const Error& error) {
      EXPECT_EQ(error.hint(), "Do it again.");
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(ZipFiles, WhatWasWrittenIsRead) {
  const auto path = archive({{"a", "alpha"}, {"b/c", ""}, {"d", "delta"}});
  const ZipFile zip = open(path);
  ASSERT_EQ(zip.entries().size(), 3U);
  EXPECT_EQ(zip.entries()[1].name, "b/c");
  EXPECT_EQ(text_of(zip, "a"), "alpha");
  EXPECT_EQ(text_of(zip, "b/c"), "");
  EXPECT_EQ(text_of(zip, "d"), "delta");
  EXPECT_EQ(zip.find("e"), nullptr);
}

TEST_F(ZipFiles, StoredEntriesAreAlignedAndOutliveTheArchive) {
  SharedBytes bytes;
  {
    const auto path = archive({{"odd name", "x"}, {"second", "0123"}});
    const ZipFile zip = open(path);
    EXPECT_EQ(zip.entries()[0].offset % 64, 0U);
    EXPECT_EQ(zip.entries()[1].offset % 64, 0U);
    bytes = zip.read(*zip.find("second"));
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data.get()) % 64, 0U);
  EXPECT_EQ(std::memcmp(bytes.data.get(), "0123", 4), 0);
}

TEST_F(ZipFiles, TheSameEntriesGiveTheSameBytes) {
  const auto first = contents(archive({{"a", "alpha"}}));
  EXPECT_EQ(contents(archive({{"a", "alpha"}})), first);
}

TEST_F(ZipFiles, MoreEntriesThanTheOldFormatCountsAreWritten) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < 66'000; ++i)
    entries.emplace_back(std::to_string(i), "");
  entries.emplace_back("last", "omega");
  const ZipFile zip = open(archive(entries));
  EXPECT_EQ(zip.entries().size(), entries.size());
  EXPECT_EQ(text_of(zip, "last"), "omega");
}

TEST_F(ZipFiles, AnEntryThatIsThereTwiceIsRefused) {
  EXPECT_THAT(refusal(archive({{"a", "1"}, {"a", "2"}})), HasSubstr("two"));
}

TEST_F(ZipFiles, DamagedBytesAreFoundByTheirChecksum) {
  std::string bytes = contents(archive({{"a", "alpha"}}));
  bytes[bytes.find("alpha")] = 'A';
  EXPECT_THAT(refusal(rewritten(bytes)), HasSubstr("a is damaged"));
}

TEST_F(ZipFiles, EntriesThatShareBytesAreRefused) {
  std::string bytes = contents(archive({{"a", "same"}, {"b", "same"}}));
  // The second line of the directory points to the first entry.
  const auto second = bytes.rfind("PK\1\2");
  bytes.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_THAT(refusal(rewritten(bytes)), HasSubstr("overlap"));
}

TEST_F(ZipFiles, SizesThatTheFileCannotHoldAreRefused) {
  const std::string sound = contents(archive({{"a", "alpha"}}));
  const auto line = sound.rfind("PK\1\2");
  for (const std::size_t field : {20U, 24U, 42U}) {
    std::string bytes = sound;
    bytes.replace(line + field, 4, "\xf0\xff\xff\x7f");
    EXPECT_NE(refusal(rewritten(bytes)), "") << field;
  }
}

TEST_F(ZipFiles, EveryShorterFileIsRefused) {
  const std::string sound = contents(archive({{"a", "alpha"}, {"b", "beta"}}));
  for (std::size_t size = 0; size < sound.size(); ++size)
    EXPECT_NE(refusal(rewritten(sound.substr(0, size))), "") << size;
}

} // namespace
} // namespace temper
