#include "temper/data/format/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::complaint;
using tests::TempFolder;

TEST(Pattern, BracesHoldRangesAndLists) {
  EXPECT_THAT(expand_braces("plain.tar"), ElementsAre("plain.tar"));
  EXPECT_THAT(
      expand_braces("a-{008..011}.tar"),
      ElementsAre("a-008.tar", "a-009.tar", "a-010.tar", "a-011.tar"));
  EXPECT_THAT(
      expand_braces("{x,y}{1..2}"), ElementsAre("x1", "x2", "y1", "y2"));
  EXPECT_THAT(
      expand_braces("{train-{0..1},val}.t"),
      ElementsAre("train-0.t", "train-1.t", "val.t"));
}

TEST(Pattern, BracesThatMakeNoSenseAreRefused) {
  for (const char* pattern :
       {"a-{0..",
        "{3..1}",
        "{a..b}",
        "{0..999999999}",
        "{0..999}{0..999}{0..999}",
        "{-1..3}"})
    EXPECT_THAT(
        complaint([&] { expand_braces(pattern); }),
        HasSubstr("cannot use the pattern"))
        << pattern;
}

TEST(Pattern, FilesMustExist) {
  const TempFolder folder;
  for (const char* name : {"b-1.tar", "b-0.tar", "a-0.tar", "odd[1].tar"})
    folder.write(name, "");
  EXPECT_THAT(
      expand_pattern(folder.text("{b,a}-*.tar")),
      ElementsAre(
          folder.text("b-0.tar"),
          folder.text("b-1.tar"),
          folder.text("a-0.tar")));
  EXPECT_THAT(
      expand_pattern(folder.text("odd[1].tar")),
      ElementsAre(folder.text("odd[1].tar")));
  EXPECT_THAT(
      complaint([&] { expand_pattern(folder.text("b-{0..2}.tar")); }),
      HasSubstr("there is no file " + folder.text("b-2.tar")));
  EXPECT_THAT(
      complaint([&] { expand_pattern(folder.text("c*")); }),
      HasSubstr("no file matches"));
}

TEST(Pattern, ShardsMarkedAsPartsAreKeptApart) {
  const ShardParts parts = part_by_name(
      {"d/cifar10-train.tfrecord-00000", "d/cifar10-test.tfrecord-00000"});
  EXPECT_THAT(parts.train, ElementsAre("d/cifar10-train.tfrecord-00000"));
  // What is for testing neither trains nor validates.
  EXPECT_THAT(parts.val, IsEmpty());
  EXPECT_THAT(parts.test, ElementsAre("d/cifar10-test.tfrecord-00000"));
  EXPECT_THAT(
      part_by_name({"train/0.tar", "val/0.tar", "test/0.tar"}).val,
      ElementsAre("val/0.tar"));
  // "trainer" and "contest" are other words.
  const ShardParts whole = part_by_name({"trainer-0.tar", "contest-0.tar"});
  EXPECT_EQ(whole.train.size(), 2U);
  EXPECT_THAT(whole.val, IsEmpty());
  EXPECT_THAT(part_by_name({"train-0.tar"}).train, ElementsAre("train-0.tar"));
}

} // namespace
} // namespace temper::data
