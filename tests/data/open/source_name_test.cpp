#include "temper/data/open/source_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/data/open/open.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

TEST(SourceName, APathAloneGetsTheKindThatIsEvident) {
  const TempFolder folder;
  folder.write("photos/cat/1.jpg", "");
  folder.write("arrays/x.npy", "");
  folder.write("arrays/y.npy", "");
  folder.write("shards/a-000.tar", "");
  folder.write("shards/a-001.tar", "");
  const auto named = [&](const std::string& kind, const std::string& path) {
    EXPECT_EQ(with_kind(folder.text(path)), kind + folder.text(path));
  };
  named("folder:", "photos");
  named("npy:", "arrays");
  EXPECT_EQ(
      with_kind(folder.text("shards")),
      "tar:" + folder.text("shards") + "/*.tar");
  // Whether they are there is said by whoever opens them.
  for (const auto& [kind, file] :
       {std::pair{"csv:", "house.csv"},
        {"csv:", "house.TSV"},
        {"npy:", "d.npz"},
        {"pack:", "photos.tpk"},
        {"tar:", "train-{000..009}.tar"},
        {"tfrecord:", "a.tfrecord-00000-of-00002"},
        {"text:", "shakespeare.txt"}})
    named(kind, file);
}

TEST(SourceName, FilesOfANamedDatasetAreKnown) {
  const TempFolder folder;
  folder.write("photos/data_batch_1.bin", std::string(2 * 3073, '\1'));
  folder.write("pickled/data_batch_1", "");
  folder.write("idx/train-images-idx3-ubyte", "");
  EXPECT_EQ(
      with_kind(folder.text("photos")), "cifar10:" + folder.text("photos"));
  EXPECT_EQ(
      open_source(folder.text("photos"), {}).train->info().name, "cifar10");
  EXPECT_THAT(
      complaint([&] { open_source(folder.text("pickled"), {}); }),
      HasSubstr("version for Python"));
  EXPECT_THAT(
      complaint([&] { open_source(folder.text("idx"), {}); }),
      HasSubstr(
          "Say which it is: mnist:" + folder.text("idx") +
          " or fashion-mnist:" + folder.text("idx")));
}

TEST(SourceName, WhatHasAKindOrNoneStaysAsItIs) {
  const TempFolder folder;
  for (const char* name :
       {"cifar10",
        "mnist:idx",
        "csv:a.csv",
        "cvs:a/b.csv",
        "cmd:cat a.tar",
        "synthetic:images=5",
        "something",
        ""})
    EXPECT_EQ(with_kind(name), name);
}

TEST(SourceName, APathAloneOpens) {
  const TempFolder folder;
  const auto table = folder.write("a.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n");
  EXPECT_EQ(open_source(table.string(), {}).train->info().classes.size(), 2U);
}

TEST(SourceName, AMisspeltPathGetsTheNearestFile) {
  const TempFolder folder;
  folder.write("photos/cat/1.jpg", "");
  folder.write("house.csv", "x,y\n1,2\n");
  EXPECT_THAT(
      complaint([&] { open_source(folder.text("phtos"), {}); }),
      AllOf(
          HasSubstr("no data source"),
          HasSubstr("Did you mean " + folder.text("photos") + "?")));
  EXPECT_THAT(
      complaint([&] { open_source(folder.text("huose.csv"), {}); }),
      AllOf(
          HasSubstr("[files] cannot read"),
          HasSubstr("No such file or directory"),
          HasSubstr("Did you mean " + folder.text("house.csv") + "?")));
}

TEST(SourceName, AProgramIsListedAndSaysWhereItCannotBeUsed) {
  EXPECT_THAT(
      complaint([] { open_source("xyzzyplugh", {}); }),
      AllOf(HasSubstr("cmd:"), HasSubstr("no file or folder of that name")));
  EXPECT_THAT(
      complaint([] { open_source("cmd:cat a.tar", {}); }),
      AllOf(HasSubstr("one after the other"), HasSubstr("tar:FILE")));
}

} // namespace
} // namespace temper::data
