#include "temper/data/format/tar_header.h"

#include <gtest/gtest.h>

#include "tests/data/tar_writer.h"

namespace temper::data {
namespace {

TarBlock block_of(const std::string& text) {
  return TarBlock(reinterpret_cast<const std::uint8_t*>(text.data()), 512);
}

std::optional<TarHeader> parsed(const std::string& block) {
  return TarHeaders().next(block_of(block));
}

// The header of a file that follows a note.
std::optional<TarHeader> noted(char type, const std::string& contents) {
  TarHeaders headers;
  const auto note =
      headers.next(block_of(tar_header("note", contents.size(), type)));
  if (!note || !headers.take_note(*note, contents)) return std::nullopt;
  return headers.next(block_of(tar_header("file", 7)));
}

TEST(TarHeader, ReadsNamesSizesAndTypes) {
  const auto plain = parsed(tar_header("a/b.jpg", 1234, '0', "long/prefix"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->name, "long/prefix/a/b.jpg");
  EXPECT_EQ(plain->size, 1234U);
  EXPECT_TRUE(plain->is_file());
  EXPECT_FALSE(parsed(tar_header("a", 1, '5'))->is_file());
  const std::string good = tar_header("a/b.jpg", 1234);
  for (std::size_t at = 0; at < 512; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    const auto read = parsed(bad);
    EXPECT_TRUE(!read || (read->name == "a/b.jpg" && read->size == 1234))
        << "byte " << at;
  }
  EXPECT_FALSE(parsed(std::string(512, '\0')));
}

TEST(TarHeader, OnlyPosixHeadersHaveAPrefix) {
  std::string gnu = tar_header("a", 1, '0', "not/a/prefix");
  gnu.replace(257, 8, std::string("ustar  \0", 8));
  tar_sum(gnu);
  EXPECT_EQ(parsed(gnu)->name, "a");
}

TEST(TarHeader, SumsOfSignedBytesAreAcceptedToo) {
  std::string old = tar_header("caf\xC3\xA9", 1);
  old.replace(148, 8, "        ");
  int sum = 0;
  for (const char c : old)
    sum += static_cast<signed char>(c);
  old.replace(
      148,
      8,
      octal(static_cast<std::uint64_t>(sum), 6) + std::string("\0 ", 2));
  ASSERT_TRUE(parsed(old));
  EXPECT_EQ(parsed(old)->name, "caf\xC3\xA9");
}

TEST(TarHeader, ASizeIsOctalOrBinaryAndLinksHaveNoContents) {
  const auto sized = [](const std::string& field, char type = '0') {
    std::string block = tar_header("a", 0, type);
    block.replace(124, 12, field);
    tar_sum(block);
    return parsed(block)->size;
  };
  EXPECT_EQ(sized("         17 "), 15U);
  EXPECT_EQ(sized(std::string("\x80\0\0\0\0\0\0\0\0\0\1\0", 12)), 256U);
  EXPECT_EQ(sized(std::string(12, '\0')), 0U);
  EXPECT_EQ(sized(std::string(12, '\xFF')), std::nullopt);
  EXPECT_EQ(sized("00000000x000"), std::nullopt);
  EXPECT_EQ(sized("000000000017", '2'), 0U);
}

TEST(TarHeader, NotesSayTheNameAndSizeOfTheNextMemberAlone) {
  EXPECT_EQ(noted('x', "9 path=x\n11 mtime=1\n")->name, "x");
  EXPECT_EQ(noted('x', "9 path=x\n9 path=y\n")->name, "y");
  EXPECT_EQ(noted('x', "9 size=5\n")->size, 5U);
  EXPECT_EQ(noted('x', "9 size=5\n")->name, "file");
  EXPECT_EQ(noted('L', std::string("long\0 rest", 10))->name, "long");
  EXPECT_EQ(noted('K', "link")->name, "file");
  EXPECT_EQ(noted('g', "9 path=x\n")->name, "file");
  TarHeaders headers;
  const auto note = headers.next(block_of(tar_header("n", 5, 'L')));
  EXPECT_TRUE(headers.take_note(*note, "first"));
  headers.next(block_of(tar_header("k", 5, 'K'))); // between note and member
  EXPECT_EQ(headers.next(block_of(tar_header("cut", 1)))->name, "first");
  EXPECT_EQ(headers.next(block_of(tar_header("second", 1)))->name, "second");
}

TEST(TarHeader, DamagedPaxRecordsAreRefused) {
  for (const auto* bad :
       {"9 path=x",
        "99 path=x\n",
        "-1 path=x\n",
        "x",
        "0 \n",
        "2 \n",
        "10 size=-1\n"})
    EXPECT_FALSE(noted('x', bad)) << bad;
}

} // namespace
} // namespace temper::data
