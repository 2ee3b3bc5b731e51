#include "temper/data/fetch/pretrained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "http_server.h"
#include "temper/base/digest/sha256.h"
#include "temper/base/text.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

std::string sha256_of(const std::string& bytes) {
  Sha256 sum;
  sum.add(bytes.data(), bytes.size());
  return sum.hex();
}

class Pretrained : public testing::Test {
 protected:
  Pretrained() {
    ::setenv("no_proxy", "*", 1);
  }
  // Called and checked as torchvision's are.
  CatalogueEntry made_up(const std::string& server) const {
    const std::string sum = sha256_of(bytes_).substr(0, 8);
    return {
        "net-imagenet",
        "made up",
        "",
        {server},
        {{cat("net-", sum, ".pth"), 1 << 20, sum}},
        {}};
  }
  Environment environment() const {
    return {{"TEMPER_DATA", temp_.text("data")}, {"HOME", temp_.text("home")}};
  }
  static DownloadOptions impatient() {
    DownloadOptions options;
    options.attempts = 2;
    options.sleep = [](std::chrono::milliseconds) {};
    return options;
  }

  tests::TempFolder temp_;
  const std::string bytes_ = std::string(5000, 'w') + "weights";
};

TEST_F(Pretrained, WeightsAreFetchedOnceAndFoundFromThenOn) {
  HttpServer server(
      [&](const HttpRequest& request) { return serve(request, bytes_); });
  const CatalogueEntry entry = made_up(server.url("/"));
  EXPECT_FALSE(find_pretrained(entry, environment()));
  std::uint64_t told = 0;
  const auto path = get_pretrained(
      entry, environment(), impatient(), [&](const GetProgress& progress) {
        told = std::max(told, progress.done_bytes);
      });
  EXPECT_EQ(path, temp_ / "data/net-imagenet" / entry.files[0].name);
  EXPECT_EQ(tests::read_bytes(path), bytes_);
  EXPECT_GT(told, 0U);
  const auto requests = server.requests().size();
  EXPECT_EQ(get_pretrained(entry, environment(), impatient(), {}), path);
  EXPECT_EQ(server.requests().size(), requests);
}

TEST_F(Pretrained, TheBeginningOfTheSumInTheNameIsChecked) {
  HttpServer server(
      [&](const HttpRequest& request) { return serve(request, bytes_ + "x"); });
  const CatalogueEntry entry = made_up(server.url("/"));
  EXPECT_THAT(
      complaint([&] { get_pretrained(entry, environment(), impatient(), {}); }),
      HasSubstr("gave another file than expected"));
  EXPECT_FALSE(find_pretrained(entry, environment()));
}

TEST_F(Pretrained, WhatPytorchHasFetchedIsUsedAndWhatIsBrokenNot) {
  const CatalogueEntry entry = made_up("http://127.0.0.1:1/");
  const auto place = temp_.write(
      "home/.cache/torch/hub/checkpoints/" + entry.files[0].name, bytes_);
  EXPECT_EQ(find_pretrained(entry, environment()), place);
  tests::write_bytes(place, "cut off");
  EXPECT_FALSE(find_pretrained(entry, environment()));
}

TEST_F(Pretrained, WithoutANetworkItSaysWhereToPutTheFile) {
  const CatalogueEntry entry = made_up("http://127.0.0.1:1/");
  EXPECT_THAT(
      complaint([&] { get_pretrained(entry, environment(), impatient(), {}); }),
      AllOf(
          HasSubstr("cannot download http://127.0.0.1:1/net-"),
          HasSubstr("With no network here"),
          HasSubstr("data/net-imagenet/net-")));
}

TEST_F(Pretrained, TheCatalogueHasTheNamesThatTorchvisionGives) {
  EXPECT_EQ(
      pretrained_entry("resnet18", "imagenet").files[0].name,
      "resnet18-f37072fd.pth");
  EXPECT_EQ(
      pretrained_entry("mobilenet_v2", "imagenet-v2").files[0].name,
      "mobilenet_v2-7ebf99e0.pth");
  for (const CatalogueEntry& entry : pretrained_catalogue()) {
    ASSERT_EQ(entry.files.size(), 1U);
    EXPECT_THAT(
        entry.files[0].name, HasSubstr(cat("-", entry.files[0].sha256, ".")));
    EXPECT_EQ(&catalogue_entry(entry.name), &entry); // temper data get
  }
  EXPECT_THAT(
      complaint([] { pretrained_entry("vit_tiny", "imagenet"); }),
      AllOf(
          HasSubstr("no weights \"imagenet\" for vit_tiny"),
          HasSubstr("resnet18, resnet34, resnet50, mobilenet_v2")));
}

} // namespace
} // namespace temper::data
