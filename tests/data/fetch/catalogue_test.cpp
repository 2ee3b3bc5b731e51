#include "temper/data/fetch/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <set>

#include "http_server.h"
#include "temper/base/digest/sha256.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/data/fetch/locate.h"
#include "tests/data/format/gzip_text.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Catalogue : public testing::Test {
 protected:
  Catalogue() {
    ::setenv("no_proxy", "*", 1);
  }
  std::string refusal(
      const std::string& tar,
      const std::vector<ArchiveMember>& members) {
    write_file_atomically(folder_ / "a.tar.gz", tar);
    try {
      unpack_tar_gz(folder_ / "a.tar.gz", folder_ / "out", members);
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  tests::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

TEST_F(Catalogue, UnpacksWhatWasAskedForAndNothingElse) {
  const std::string large(100'000, 'L');
  write_file_atomically(
      folder_ / "a.tar.gz",
      gzip(
          tar_member("d/", "", '5') + tar_member("d/readme.html", "<html>") +
          tar_member("d/large.bin", large) + tar_member("./d/b.bin", "b") +
          tar_end()));
  unpack_tar_gz(
      folder_ / "a.tar.gz",
      folder_ / "out",
      {{"d/large.bin", 100'000}, {"d/b.bin", 10}});
  EXPECT_EQ(read_small_file(folder_ / "out/d/large.bin"), large);
  EXPECT_EQ(read_small_file(folder_ / "out/d/b.bin"), "b");
  EXPECT_FALSE(fs::exists(folder_ / "out/d/readme.html"));
}

TEST_F(Catalogue, UnpacksMembersWhoseNamesAreLong) {
  const std::string name = cat("d/", std::string(150, 'n'));
  const std::string gnu = tar_member("././@LongLink", name + '\0', 'L') +
      tar_member("cut", "gnu") + tar_end();
  EXPECT_EQ(refusal(gzip(gnu), {{name, 10}}), "no refusal");
  EXPECT_EQ(read_small_file(folder_ / "out" / name), "gnu");
  const std::string pax = tar_member("pax", "12 path=./p\n", 'x') +
      tar_member("cut", "pax") + tar_end();
  EXPECT_EQ(refusal(gzip(pax), {{"p", 10}}), "no refusal");
  EXPECT_EQ(read_small_file(folder_ / "out/p"), "pax");
  EXPECT_THAT(
      refusal(gzip(tar_member("pax", "99 path=p\n", 'x')), {{"p", 10}}),
      HasSubstr("a pax record is damaged"));
  EXPECT_THAT(
      refusal(gzip(tar_header("pax", 1 << 21, 'x')), {{"p", 10}}),
      HasSubstr("a name is absurdly long"));
}

TEST_F(Catalogue, AnArchiveThatLeadsOutsideIsRefused) {
  for (const std::string name : {"../evil", "/etc/evil", "d/../../evil"})
    EXPECT_THAT(
        refusal(
            gzip(tar_member(name, "x") + tar_end()), {{"d/a", 10}, {name, 10}}),
        HasSubstr("leads out of the folder"))
        << name;
  EXPECT_FALSE(fs::exists(folder_ / "evil"));
  EXPECT_THAT(
      refusal(gzip(tar_member("d/a", "", '2') + tar_end()), {{"d/a", 10}}),
      HasSubstr("not a plain file"));
}

TEST_F(Catalogue, ADamagedArchiveIsAnErrorAndLeavesNoPart) {
  const std::string good =
      tar_member("d/a", std::string(5000, 'a')) + tar_end();
  const std::vector<ArchiveMember> wanted{{"d/a", 5000}};
  EXPECT_EQ(refusal(gzip(good), wanted), "no refusal");
  fs::remove_all(folder_ / "out");
  EXPECT_THAT(
      refusal(gzip(good.substr(0, 3000)), wanted), HasSubstr("truncated"));
  std::string flipped = good;
  flipped[1] = 'X';
  EXPECT_THAT(refusal(gzip(flipped), wanted), HasSubstr("checksum"));
  std::string noise = gzip(good);
  noise[noise.size() / 2] ^= 0x55;
  EXPECT_THAT(refusal(noise, wanted), HasSubstr("cannot be unpacked"));
  EXPECT_THAT(refusal("", wanted), HasSubstr("truncated"));
  EXPECT_THAT(refusal(gzip(tar_end()), wanted), HasSubstr("d/a is not in it"));
  EXPECT_THAT(refusal(gzip(good), {{"d/a", 4999}}), HasSubstr("larger"));
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out"))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 0);
}

TEST_F(Catalogue, EveryFileHasAPinnedSumAndSize) {
  std::set<std::string> names;
  for (const auto& entry : catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_FALSE(entry.mirrors.empty());
    for (const auto& mirror : entry.mirrors)
      EXPECT_EQ(mirror.back(), '/') << mirror;
    EXPECT_EQ(entry.members.empty(), entry.files.size() > 1) << entry.name;
    for (const auto& file : entry.files) {
      EXPECT_EQ(file.sha256.size(), 64U) << file.name;
      EXPECT_EQ(
          file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
      EXPECT_GT(file.bytes, 1000U);
    }
  }
}

TEST_F(Catalogue, AnUnknownNameGetsTheNearestOne) {
  EXPECT_EQ(catalogue_entry("mnist").name, "mnist");
  try {
    catalogue_entry("cifar-10");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("cifar10"));
  }
}

TEST_F(Catalogue, WhatIsDownloadedIsFound) {
  for (const auto& entry : catalogue()) {
    const fs::path place = folder_ / entry.name;
    std::vector<fs::path> files;
    for (const auto& member : entry.members)
      files.push_back(place / member.name);
    if (files.empty())
      for (const auto& file : entry.files)
        files.push_back(place / file.name);
    for (const auto& file : files) {
      fs::create_directories(file.parent_path());
      write_file_atomically(file, "");
    }
    EXPECT_EQ(
        locate(entry.name, "", {{"TEMPER_CACHE_DIR", folder_.string()}}),
        files[0].parent_path());
  }
}

TEST_F(Catalogue, DownloadsGoWhereTheUserSays) {
  EXPECT_EQ(
      download_folder({{"TEMPER_DATA", "/d"}, {"HOME", "/home/a"}}), "/d");
  EXPECT_EQ(
      download_folder({{"XDG_CACHE_HOME", "/c"}, {"HOME", "/home/a"}}),
      "/c/temper");
  EXPECT_THROW(download_folder({}), Error);
}

TEST_F(Catalogue, GettingADatasetBringsItsFilesOnce) {
  const std::string archive = gzip(tar_member("d/a.bin", "pixels") + tar_end());
  HttpServer server([&](const HttpRequest& request) {
    return serve(request, request.path == "/x/a.tar.gz" ? archive : "plain");
  });
  CatalogueEntry packed;
  packed.name = "packed";
  packed.mirrors = {server.url("/x/")};
  packed.files = {{"a.tar.gz", archive.size(), sha256_hex(archive)}};
  packed.members = {{"d/a.bin", 6}};
  std::vector<std::string> seen;
  const auto watch = [&](const GetProgress& progress) {
    if (seen.empty() || seen.back() != progress.what)
      seen.push_back(progress.what);
  };
  EXPECT_EQ(get_dataset(packed, folder_, {}, watch), folder_ / "packed");
  EXPECT_EQ(read_small_file(folder_ / "packed/d/a.bin"), "pixels");
  EXPECT_FALSE(fs::exists(folder_ / "packed/a.tar.gz"));
  EXPECT_THAT(seen, testing::ElementsAre("a.tar.gz", "unpacking"));

  CatalogueEntry plain;
  plain.name = "plain";
  plain.mirrors = {server.url("/y/")};
  plain.files = {
      {"one", 5, sha256_hex("plain")}, {"two", 5, sha256_hex("plain")}};
  get_dataset(plain, folder_, {}, nullptr);
  EXPECT_EQ(read_small_file(folder_ / "plain/two"), "plain");

  // Stopped in the middle, nothing of it can be taken for the dataset.
  fs::remove_all(folder_ / "packed");
  EXPECT_THROW(
      get_dataset(
          packed,
          folder_,
          {},
          [](const GetProgress& at) {
            if (at.what == "unpacking") throw Error("stopped");
          }),
      Error);
  EXPECT_FALSE(fs::exists(folder_ / "packed/d"));
  EXPECT_FALSE(fs::exists(folder_ / "packed/.unpacking"));
  get_dataset(packed, folder_, {}, nullptr);

  const auto asked = server.requests().size();
  get_dataset(packed, folder_, {}, nullptr);
  get_dataset(plain, folder_, {}, nullptr);
  EXPECT_EQ(server.requests().size(), asked);
}

} // namespace
} // namespace temper::data
