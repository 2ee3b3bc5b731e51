#include "temper/data/open/open.h"

#include <gmock/gmock.h>

#include "temper/base/text.h"
#include "tests/complaint.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

std::string open_refusal(const std::string& name) {
  return complaint([&] { open_source(name, {}); });
}

TEST(OpenSource, AnUnknownNameGetsTheNearestOne) {
  EXPECT_THAT(open_refusal("cifar"), HasSubstr("Did you mean cifar10?"));
  EXPECT_THAT(
      open_refusal("fashionmnist"), HasSubstr("Did you mean fashion-mnist?"));
  EXPECT_THAT(
      open_refusal("cvs:a/b.csv"), HasSubstr("Did you mean csv:a/b.csv?"));
  EXPECT_THAT(
      open_refusal("cdm:python make.py"),
      HasSubstr("Did you mean cmd:python make.py?"));
  EXPECT_THAT(open_refusal("cmd"), HasSubstr("Did you mean cmd:PROGRAM?"));
  EXPECT_THAT(open_refusal("xyzzyplugh"), HasSubstr("There are cifar10"));
  EXPECT_THAT(open_refusal(""), HasSubstr("no data source ''"));
  EXPECT_THAT(open_refusal("csv:"), HasSubstr("Write csv:PATH"));
}

TEST(OpenSource, TheDefaultNeedsNothingThatIsNotHere) {
  const TempFolder folder;
  folder.write("fashion-mnist/train-images-idx3-ubyte.gz", "");
  EXPECT_EQ(
      default_source({{"TEMPER_DATA", folder.path().string()}}),
      "fashion-mnist");
  // Whatever this machine has: it opens.
  const auto splits =
      open_source(default_source(current_environment()), OpenOptions{});
  EXPECT_GT(splits.train->size(), 1000);
}

TEST(OpenSource, AProgramIsAStreamAndNothingElseIs) {
  EXPECT_EQ(open_stream("cifar10"), nullptr);
  const auto stream = open_stream("cmd:true");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->info().name, "cmd:true");
}

TEST(OpenSource, EachKindOpens) {
  const TempFolder folder;
  const auto table = folder.write("a.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n");
  const auto text = folder.write("a.txt", std::string(1000, 'a'));
  const auto arrays = tests::fixtures() / "arrays" / "stored.npz";
  EXPECT_EQ(
      open_source(cat("csv:", table.string()), {}).train->info().name,
      "csv:a.csv");
  EXPECT_EQ(
      open_source(cat("text:", text.string()), {}).train->info().name,
      "text:a.txt");
  EXPECT_EQ(
      open_source(cat("npy:", arrays.string()), {}).train->info().name,
      "npy:stored.npz");
  EXPECT_EQ(open_source("synthetic:rows=10", {}).train->size(), 10);
  OpenOptions options;
  options.path = folder.path();
  folder.write("cifar-10-batches-bin/data_batch_1.bin", std::string(30730, 1));
  EXPECT_EQ(open_source("cifar10", options).train->info().name, "cifar10");
}

TEST(OpenSource, EveryKindHasOneLineOfHelp) {
  ASSERT_FALSE(source_kinds().empty());
  for (const auto& kind : source_kinds()) {
    EXPECT_FALSE(kind.help.empty()) << kind.name;
    EXPECT_LT(kind.name.size() + kind.help.size(), 76U) << kind.name;
  }
}

} // namespace
} // namespace temper::data
