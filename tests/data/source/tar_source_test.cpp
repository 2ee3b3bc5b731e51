#include "temper/data/source/tar_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/data/format/tar_index.h"
#include "tests/complaint.h"
#include "tests/data/format_bytes.h"
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

// "name=contents" of each member.
std::vector<std::string> listed(const std::string& tar) {
  std::vector<std::string> all;
  for (const TarMember& member : read_tar_index(bytes_in(tar)))
    all.push_back(
        cat(member.name, "=", tar.substr(member.offset, member.bytes)));
  return all;
}

std::string pax_record(const std::string& text) {
  std::size_t length = text.size() + 3;
  while (std::to_string(length).size() + text.size() + 2 != length)
    ++length;
  return cat(length, " ", text, "\n");
}

TEST(TarIndex, FindsRegularFilesOnly) {
  const std::string tar = tar_member("folder/", "", '5') +
      tar_member("a.txt", "hello") + tar_header("link", 77, '2') +
      tar_member("empty", "") + tar_member("old", "style", '\0') + tar_end();
  EXPECT_THAT(listed(tar), ElementsAre("a.txt=hello", "empty=", "old=style"));
  EXPECT_THAT(listed(""), IsEmpty());
  EXPECT_THAT(listed(tar_end()), IsEmpty());
}

TEST(TarIndex, LongNamesOfEveryDialectAreRead) {
  const std::string name(300, 'n');
  const std::string ustar = tar_header("base", 1, '0', "some/prefix");
  EXPECT_THAT(
      listed(ustar + tar_padded("x")), ElementsAre("some/prefix/base=x"));
  const std::string gnu =
      tar_member("././@LongLink", name + std::string(1, '\0'), 'L') +
      tar_member("nnn", "x") + tar_member("next", "y");
  EXPECT_THAT(listed(gnu), ElementsAre(name + "=x", "next=y"));
  const std::string pax = tar_member("global", pax_record("path=no"), 'g') +
      tar_member("PaxHeader",
                 pax_record("mtime=1.5") + pax_record("path=" + name),
                 'x') +
      tar_member("nnn", "x") + tar_member("next", "y");
  EXPECT_THAT(listed(pax), ElementsAre(name + "=x", "next=y"));
}

TEST(TarIndex, SizesMayBeBinaryOrInAPaxRecord) {
  std::string header = tar_header("a", 0);
  header.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x05", 12));
  tar_sum(header);
  EXPECT_THAT(listed(header + tar_padded("hello")), ElementsAre("a=hello"));
  const std::string pax = tar_member("p", pax_record("size=5"), 'x') +
      tar_header("a", 0) + tar_padded("hello") + tar_member("b", "x");
  EXPECT_THAT(listed(pax), ElementsAre("a=hello", "b=x"));
}

TEST(TarIndex, DamageIsRefusedWithItsPlace) {
  const auto why = [](const std::string& tar) {
    return complaint([&] { read_tar_index(bytes_in(tar)); });
  };
  const std::string good = tar_member("a", "hello");
  EXPECT_THAT(why(std::string(2000, 'x')), HasSubstr("not a tar archive"));
  EXPECT_THAT(why(good.substr(0, 100)), HasSubstr("a header is cut off"));
  EXPECT_THAT(why(good.substr(0, 515)), HasSubstr("a member is cut off"));
  std::string bad = good + good;
  bad[1024 + 5] = 'x';
  EXPECT_THAT(why(bad), HasSubstr("checksum does not fit at byte 1,024"));
  EXPECT_THAT(
      why(tar_header("a", 077777777777)), HasSubstr("a member is cut off"));
  std::string negative = tar_header("a", 0);
  negative.replace(124, 12, std::string(12, '\xFF'));
  tar_sum(negative);
  EXPECT_THAT(why(negative), HasSubstr("without a size"));
  for (const char* record :
       {"99 path=x\n", "x path=x\n", "0 path=x\n", "path", "3 size=-1\n"})
    EXPECT_THAT(why(tar_member("p", record, 'x')), HasSubstr("pax")) << record;
  EXPECT_THAT(
      why(tar_member("p", pax_record("size=99999999999"), 'x') + good),
      HasSubstr("a member is cut off"));
}

std::string tar_sample(int number, const std::string& label) {
  return tar_member(cat("d/", number, ".ppm"), small_image(number)) +
      tar_member(cat("d/", number, ".cls"), label);
}

ShardSource tar_shard(const std::string& shard) {
  return {tar_format(), index_shards(tar_format(), {shard}), {}};
}

TEST(TarSource, ReadsSamplesOfSeveralShards) {
  const TempFolder folder;
  folder.write(
      "s-00.tar", tar_sample(10, "1\n") + tar_sample(11, "0") + tar_end());
  folder.write("s-01.tar", tar_sample(12, " 3 ") + tar_end());
  OpenOptions options;
  options.val_fraction = 0;
  const Splits parts = open_tar(folder.text("s-{00..01}.tar"), options);
  ASSERT_EQ(parts.train->size(), 3);
  EXPECT_THAT(parts.train->info().classes, ElementsAre("0", "1", "2", "3"));
  Sample sample;
  for (std::int64_t i = 0; i < 3; ++i) {
    parts.train->read(i, sample);
    EXPECT_EQ(sample.image.pixels()[0], 10 + i);
    EXPECT_EQ(parts.train->label(i), sample.label);
  }
  EXPECT_EQ(sample.label, 3);
  EXPECT_EQ(
      parts.train->describe(2), cat("d/12.ppm in ", folder.text("s-01.tar")));
}

TEST(TarSource, TheKeyEndsAtTheFirstDotOfTheName) {
  const TempFolder folder;
  folder.write(
      "a.tar",
      tar_member("v1.0/x.seg.png", "not the image") +
          tar_member("v1.0/x.cls", "4") +
          tar_member("v1.0/x.PPM", small_image(9)) +
          tar_member("v1.0/y.ppm", small_image(8)) +
          tar_member("v1.0/y.cls", "5"));
  const ShardIndex index = index_shards(tar_format(), {folder.text("a.tar")});
  ASSERT_EQ(index.entries.size(), 2U);
  EXPECT_EQ(index.entries[0].label, 4);
  EXPECT_EQ(index.entries[1].label, 5);
}

TEST(TarSource, LabelsComeFromClsJsonOrText) {
  const TempFolder folder;
  const std::string image = small_image(9);
  folder.write(
      "a.tar",
      tar_member("a.ppm", image) + tar_member("a.json", "{\"label\": 3}") +
          tar_member("b.ppm", image) + tar_member("b.json", "{\"cls\":2}") +
          tar_member("b.txt", "7") + tar_member("c.ppm", image) +
          tar_member("c.txt", "6") + tar_member("c.cls", "1") +
          tar_member("d.txt", "a caption") + tar_member("d.ppm", image) +
          tar_member("e.ppm", image) + tar_member("e.cls", "-1") +
          tar_member("f.ppm", image) + tar_member("f.json", "{broken"));
  const ShardSource source = tar_shard(folder.text("a.tar"));
  EXPECT_EQ(source.label(0), 3);
  EXPECT_EQ(source.label(1), 2);
  EXPECT_EQ(source.label(2), 1);
  Sample sample;
  for (const std::int64_t bad : {3, 4, 5}) {
    EXPECT_EQ(source.label(bad), std::nullopt);
    EXPECT_THROW(source.read(bad, sample), BadSample);
  }
  EXPECT_THAT(
      complaint([&] { source.read(3, sample); }),
      AllOf(HasSubstr("d.ppm in "), HasSubstr("it has no label")));
}

TEST(TarSource, MarkedShardsAreThePartsAndOthersAreDivided) {
  const TempFolder folder;
  folder.write("x-train-0.tar", tar_sample(1, "0") + tar_sample(2, "1"));
  folder.write("x-val-0.tar", tar_sample(3, "5"));
  const Splits marked = open_tar(folder.text("x-*.tar"), {});
  EXPECT_EQ(marked.train->size(), 2);
  EXPECT_EQ(marked.val->size(), 1);
  EXPECT_EQ(marked.train->info().classes.size(), 2U);
  const Splits divided = open_tar(folder.text("x-train-0.tar"), {});
  EXPECT_EQ(divided.train->size(), 1);
  EXPECT_EQ(divided.val->size(), 1);
}

TEST(TarSource, DamagedShardsAreNamed) {
  const TempFolder folder;
  const std::string tar = tar_sample(1, "0");
  folder.write("cut.tar", tar.substr(0, tar.size() - 512));
  folder.write("gzip.tar", "\x1F\x8B\x08 and so on");
  folder.write("none.tar", tar_member("readme", "hello"));
  folder.write("labels.tar", tar_member("1.cls", "1"));
  const auto why = [&](const char* name) {
    return complaint([&] { open_tar(folder.text(name), {}); });
  };
  EXPECT_THAT(
      why("cut.tar"), AllOf(HasSubstr("cut.tar"), HasSubstr("is cut off")));
  EXPECT_THAT(why("gzip.tar"), HasSubstr("gunzip"));
  EXPECT_THAT(why("none.tar"), HasSubstr("0 images and no label"));
  EXPECT_THAT(why("labels.tar"), HasSubstr("0 images and no label"));
  EXPECT_THAT(why("absent.tar"), HasSubstr("there is no file"));
}

TEST(TarSource, AShardThatShrinksLaterGivesABadSample) {
  const TempFolder folder;
  folder.write("a.tar", tar_sample(1, "0"));
  const ShardSource source = tar_shard(folder.text("a.tar"));
  folder.write("a.tar", "short");
  Sample sample;
  EXPECT_THROW(source.read(0, sample), BadSample);
}

} // namespace
} // namespace temper::data
