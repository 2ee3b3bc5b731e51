#include "temper/data/source/text_source.h"

#include <gmock/gmock.h>

#include "temper/data/format/utf8.h"
#include "tests/complaint.h"
#include "tests/data/format_bytes.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

TEST(TextSource, TheTargetIsTheWindowOneTokenFurther) {
  const TempFolder folder;
  const auto path = folder.write("a.txt", "abcdefghij");
  OpenOptions options;
  options.sequence = 3;
  options.val_fraction = 0;
  const Splits splits = open_text(path.string(), options);
  // abc, def, ghi: each has a token after it.
  ASSERT_EQ(splits.train->size(), 3);
  EXPECT_EQ(splits.val, nullptr);
  Sample sample;
  splits.train->read(2, sample);
  EXPECT_THAT(sample.tokens, ElementsAre('g', 'h', 'i'));
  EXPECT_THAT(sample.target_tokens, ElementsAre('h', 'i', 'j'));
  EXPECT_EQ(splits.train->info().vocabulary, 256);
  EXPECT_EQ(splits.train->info().target_size, 3);
}

TEST(TextSource, TheEndOfTheTextValidates) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += byte(i);
  const auto path = folder.write("a.txt", text);
  OpenOptions options;
  options.sequence = 4;
  const Splits splits = open_text(path.string(), options);
  Sample sample;
  splits.train->read(splits.train->size() - 1, sample);
  EXPECT_LT(sample.target_tokens.back(), 180);
  splits.val->read(0, sample);
  EXPECT_EQ(sample.tokens.front(), 180);
  EXPECT_EQ(splits.val->size(), 4); // 20 tokens; the last lacks a target
  EXPECT_NE(splits.train->fingerprint(), splits.val->fingerprint());
}

TEST(TextSource, BytesAboveAsciiArePositive) {
  const TempFolder folder;
  const auto path = folder.write("a.txt", "\xff\x80\x01");
  OpenOptions options;
  options.sequence = 2;
  options.val_fraction = 0;
  Sample sample;
  open_text(path.string(), options).train->read(0, sample);
  EXPECT_THAT(sample.tokens, ElementsAre(255, 128));
}

TEST(TextSource, CharactersAreNumberedInOrder) {
  const TempFolder folder;
  const auto path = folder.write(
      "a.txt",
      "b\xc3\xa9"
      "a\xf0\x9f\x98\x80"
      "b");
  const TextTokens tokens(path, TextTokens::Unit::characters);
  EXPECT_EQ(tokens.size(), 5);
  EXPECT_THAT(tokens.characters(), ElementsAre(U'a', U'b', U'é', U'😀'));
  OpenOptions options;
  options.sequence = 4;
  options.val_fraction = 0;
  const Splits splits = open_text("chars:" + path.string(), options);
  Sample sample;
  splits.train->read(0, sample);
  EXPECT_THAT(sample.tokens, ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(sample.target_tokens, ElementsAre(2, 0, 3, 1));
  EXPECT_EQ(splits.train->info().vocabulary, 4);
}

TEST(TextSource, WhatIsNotUtf8IsNamedByItsByte) {
  const TempFolder folder;
  const auto path = folder.write("a.txt", "abc\xff");
  EXPECT_THAT(
      complaint([&] { open_text("chars:" + path.string(), {}); }),
      HasSubstr("byte 3 is not UTF-8"));
}

TEST(TextSource, TooLittleTextIsAnError) {
  const TempFolder folder;
  const auto path = folder.write("a.txt", "abc");
  EXPECT_THAT(
      complaint([&] { open_text(path.string(), {}); }),
      HasSubstr("shorter than a window of 128"));
  EXPECT_THROW(open_text(folder.write("b.txt", "").string(), {}), Error);
  EXPECT_THROW(open_text((folder.path() / "none").string(), {}), Error);
  OpenOptions options;
  options.sequence = 0;
  EXPECT_THROW(open_text(path.string(), options), Error);
}

TEST(Utf8, OtherTextIsTakenForWindows1252) {
  EXPECT_EQ(as_utf8("na\xc3\xafve"), "na\xc3\xafve");
  EXPECT_EQ(as_utf8("na\xefve \x80"), "na\xc3\xafve \xe2\x82\xac");
  EXPECT_EQ(as_utf8("\x81\xff"), "\xc2\x81\xc3\xbf");
}

TEST(Utf8, OnlyTheShortestFormOfARealCharacterCounts) {
  const auto parse = [](const std::string& text) {
    std::size_t at = 0;
    return next_code_point(
        {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, at);
  };
  EXPECT_EQ(parse("\xe2\x82\xac"), U'€');
  EXPECT_EQ(parse("\xf4\x8f\xbf\xbf"), char32_t{0x10ffff});
  for (const char* bad :
       {"\x80",
        "\xc0\xaf",
        "\xc3",
        "\xe0\x80\xaf",
        "\xed\xa0\x80",
        "\xf0\x80\x80\xaf",
        "\xf4\x90\x80\x80",
        "\xe2\x82",
        "\xc3("})
    EXPECT_EQ(parse(bad), std::nullopt);
}

} // namespace
} // namespace temper::data
