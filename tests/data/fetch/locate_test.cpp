#include "temper/data/fetch/locate.h"

#include <gmock/gmock.h>

#include "temper/base/log.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

TEST(Locate, TheCacheDirectoryFollowsTheEnvironment) {
  EXPECT_EQ(
      cache_directory({{"TEMPER_CACHE_DIR", "/a"}, {"XDG_CACHE_HOME", "/b"}}),
      "/a");
  EXPECT_EQ(
      cache_directory({{"XDG_CACHE_HOME", "/b"}, {"HOME", "/h"}}), "/b/temper");
  EXPECT_EQ(
      cache_directory({{"XDG_CACHE_HOME", "b"}, {"HOME", "/h"}}),
      std::filesystem::path("/h") / home_cache_folder() / "temper");
  EXPECT_EQ(cache_directory({{"TEMPER_CACHE_DIR", ""}}), "");
}

TEST(Locate, PlacesAreTriedInTheirOrder) {
  const TempFolder folder;
  const auto& root = folder.path();
  const Environment environment{
      {"TEMPER_DATA", (root / "data").string()},
      {"TEMPER_CACHE_DIR", (root / "cache").string()}};
  const auto find = [&] {
    return locate("cifar10", root / "given", environment);
  };
  auto before = log::set_sink([](log::Level, const std::string&) {});
  folder.write("cache/cifar10/cifar-10-batches-bin/data_batch_1.bin", "");
  EXPECT_EQ(find(), root / "cache/cifar10/cifar-10-batches-bin");
  folder.write("data/cifar10/data_batch_1.bin", "");
  EXPECT_EQ(find(), root / "data/cifar10");
  folder.write("data/data_batch_2.bin", "");
  EXPECT_EQ(find(), root / "data");
  folder.write("given/cifar-10-batches-bin/data_batch_1.bin", "");
  EXPECT_EQ(find(), root / "given/cifar-10-batches-bin");
  log::set_sink(before);
}

TEST(Locate, AnotherPlaceThanTheGivenOneIsSaid) {
  const TempFolder folder;
  folder.write("data/mnist/train-images-idx3-ubyte.gz", "");
  std::string said;
  auto before =
      log::set_sink([&](log::Level, const std::string& line) { said += line; });
  locate(
      "mnist",
      folder.path() / "given",
      {{"TEMPER_DATA", (folder.path() / "data").string()}});
  log::set_sink(before);
  EXPECT_THAT(said, HasSubstr("given; using the one in"));
}

TEST(Locate, DatasetsWithTheSameFileNamesAreNotConfused) {
  const TempFolder folder;
  folder.write("train-images-idx3-ubyte", ""); // whose is it?
  folder.write("mnist/train-images-idx3-ubyte", "");
  const Environment environment{{"TEMPER_CACHE_DIR", folder.path().string()}};
  EXPECT_EQ(locate("mnist", {}, environment), folder.path() / "mnist");
  folder.write("FashionMNIST/raw/train-images-idx3-ubyte", "");
  EXPECT_EQ(
      locate("fashion-mnist", {}, environment),
      folder.path() / "FashionMNIST/raw");
}

TEST(Locate, TheSystemPackageIsTheLastPlace) {
  const auto places = candidate_directories("fashion-mnist", {}, {});
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places.back(), "/usr/share/datasets/fashion-mnist");
  EXPECT_TRUE(candidate_directories("mnist", {}, {}).empty());
}

TEST(Locate, WhatIsNowhereSaysWhereItWasLookedFor) {
  EXPECT_THAT(
      complaint([] {
        locate("cifar10", "/nowhere/given", {{"HOME", "/nowhere/home"}});
      }),
      AllOf(
          HasSubstr("/nowhere/given"),
          HasSubstr("/nowhere/home"),
          HasSubstr("temper data get cifar10")));
}

TEST(Locate, ThePickledVersionIsRefusedWithTheReason) {
  const TempFolder folder;
  folder.write("cifar-10-batches-py/data_batch_1", "");
  folder.write("cifar-100-python/train", "");
  for (const char* name : {"cifar10", "cifar100"})
    EXPECT_THAT(
        complaint([&] { locate(name, folder.path(), {}); }),
        AllOf(HasSubstr("pickle"), HasSubstr("binary version")));
}

} // namespace
} // namespace temper::data
