#include "temper/data/fetch/download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "http_server.h"
#include "temper/base/digest/sha256.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string some_bytes(std::size_t count) {
  std::string bytes(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<char>((i * 2654435761U) >> 11);
  return bytes;
}

class Downloads : public testing::Test {
 protected:
  Downloads() {
    ::setenv("no_proxy", "*", 1); // a proxy would not know our loopback
    options_.sleep = [this](std::chrono::milliseconds delay) {
      delays_.push_back(static_cast<int>(delay.count()));
    };
  }

  Download what(const HttpServer& server) const {
    return {{server.url()}, file_, sha256_hex(content_), 1 << 20};
  }
  std::string failure(const Download& what) {
    try {
      download(what, options_);
    } catch (const Error& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "no failure";
  }
  std::string there() const {
    return read_small_file(file_).value_or("nothing");
  }

  tests::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
  fs::path file_ = folder_ / "sub" / "data.gz";
  fs::path part_ = folder_ / "sub" / "data.gz.part";
  std::string content_ = some_bytes(200'000);
  DownloadOptions options_;
  std::vector<int> delays_;
};

TEST_F(Downloads, AFileArrivesWholeAndReportsItsProgress) {
  HttpServer server(
      [&](const auto& request) { return serve(request, content_); });
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  options_.progress = [&](std::uint64_t done, std::uint64_t of) {
    EXPECT_GE(done, last);
    last = done;
    total = std::max(total, of);
  };
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_FALSE(fs::exists(part_));
  EXPECT_EQ(last, content_.size());
  EXPECT_EQ(total, content_.size());
  download(what(server), options_); // there already
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Downloads, ACutConnectionIsContinuedWhereItBroke) {
  HttpServer server([&](const HttpRequest& request) {
    auto reply = serve(request, content_);
    reply.cut_after = 60'000;
    return reply;
  });
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_FALSE(requests[0].range_begin);
  EXPECT_EQ(requests[1].range_begin, 60'000U);
  EXPECT_EQ(requests[3].range_begin, 180'000U);
  // Each brought something: the delay never grows.
  EXPECT_THAT(delays_, testing::ElementsAre(500, 500, 500));
}

TEST_F(Downloads, APartOfAnEarlierRunIsContinued) {
  fs::create_directory(folder_ / "sub");
  write_file_atomically(part_, content_.substr(0, 1234));
  HttpServer server(
      [&](const auto& request) { return serve(request, content_); });
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_EQ(server.requests().at(0).range_begin, 1234U);
}

TEST_F(Downloads, AWholePartNeedsOnlyAQuestion) {
  fs::create_directory(folder_ / "sub");
  write_file_atomically(part_, content_);
  HttpServer server(
      [&](const auto& request) { return serve(request, content_); });
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Downloads, APartOfAnotherFileIsThrownAway) {
  fs::create_directory(folder_ / "sub");
  for (const std::size_t length : {5'000U, 300'000U}) {
    write_file_atomically(part_, std::string(length, 'x'));
    fs::remove(file_);
    HttpServer server(
        [&](const auto& request) { return serve(request, content_); });
    download(what(server), options_);
    EXPECT_EQ(there(), content_) << length;
  }
}

TEST_F(Downloads, AServerThatIgnoresRangesStartsAgain) {
  fs::create_directory(folder_ / "sub");
  write_file_atomically(part_, std::string(1234, 'x'));
  HttpServer server([&](const HttpRequest& request) {
    return serve({request.path, std::nullopt}, content_);
  });
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Downloads, AServerThatSendsAnotherRangeIsNotBelieved) {
  fs::create_directory(folder_ / "sub");
  write_file_atomically(part_, content_.substr(0, 1000));
  HttpServer server([&](HttpRequest request) {
    if (request.range_begin) *request.range_begin += 500;
    return serve(request, content_);
  });
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_FALSE(server.requests().at(1).range_begin);
}

TEST_F(Downloads, WithoutASumNothingOldIsContinued) {
  fs::create_directory(folder_ / "sub");
  write_file_atomically(part_, std::string(1234, 'x'));
  HttpServer server(
      [&](const auto& request) { return serve(request, content_); });
  auto unchecked = what(server);
  unchecked.sha256.clear();
  download(unchecked, options_);
  EXPECT_EQ(there(), content_);
  EXPECT_FALSE(server.requests().at(0).range_begin);
}

TEST_F(Downloads, PassingTroubleIsWaitedForEachTimeLonger) {
  int calls = 0;
  HttpServer server([&](const HttpRequest& request) {
    HttpReply trouble;
    trouble.status = calls == 1 ? 429 : 503;
    trouble.body = "an error page that must not end up in the file";
    return ++calls <= 3 ? trouble : serve(request, content_);
  });
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_THAT(delays_, testing::ElementsAre(500, 1000, 2000));
}

TEST_F(Downloads, LastingTroubleEndsWithTheAddressAndWhatToDo) {
  HttpServer server([](const auto&) {
    HttpReply trouble;
    trouble.status = 500;
    return trouble;
  });
  EXPECT_THAT(
      failure(what(server)),
      AllOf(
          HasSubstr(server.url()),
          HasSubstr("the server said 500"),
          HasSubstr("put it at " + file_.string())));
  EXPECT_EQ(server.requests().size(), 5U);
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(Downloads, AMissingFileIsNotAskedForTwice) {
  HttpServer server([](const auto&) {
    HttpReply missing;
    missing.status = 404;
    return missing;
  });
  EXPECT_THAT(failure(what(server)), HasSubstr("the server said 404"));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Downloads, TheNextMirrorStepsIn) {
  HttpServer server([&](const HttpRequest& request) {
    HttpReply missing;
    missing.status = 404;
    return request.path == "/gone" ? missing : serve(request, content_);
  });
  auto mirrored = what(server);
  mirrored.urls = {server.url("/gone"), server.url("/file")};
  download(mirrored, options_);
  EXPECT_EQ(there(), content_);
}

TEST_F(Downloads, NoNetworkIsOneClearError) {
  std::string url;
  {
    HttpServer gone([](const auto&) { return HttpReply{}; });
    url = gone.url();
  }
  const std::string text =
      failure({{url}, file_, sha256_hex(content_), 1 << 20});
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("cannot download " + url),
          HasSubstr("connect"),
          HasSubstr("put it at " + file_.string())));
  EXPECT_EQ(delays_.size(), 4U);
}

TEST_F(Downloads, AWrongSumLeavesNothingAndNamesBoth) {
  HttpServer server(
      [&](const auto& request) { return serve(request, "something else"); });
  EXPECT_THAT(
      failure(what(server)),
      AllOf(
          HasSubstr(sha256_hex("something else")),
          HasSubstr(sha256_hex(content_))));
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_FALSE(fs::exists(part_));
}

TEST_F(Downloads, AFileTooLargeIsRefusedBeforeItFillsTheDisk) {
  for (const bool declared : {true, false}) {
    HttpServer server([&](const auto& request) {
      auto reply = serve(request, content_);
      if (!declared) reply.declared_length = -1;
      return reply;
    });
    auto limited = what(server);
    limited.limit_bytes = 100'000;
    EXPECT_THAT(failure(limited), HasSubstr("larger than 97.7 KiB"));
    EXPECT_LE(fs::file_size(part_), 100'000U);
    EXPECT_EQ(server.requests().size(), 1U);
    fs::remove(part_);
  }
}

TEST_F(Downloads, RedirectsAreFollowedButNotForever) {
  HttpServer server([&](const HttpRequest& request) {
    HttpReply reply;
    reply.status = 302;
    reply.headers = {"Location: /loop"};
    if (request.path == "/once") reply.headers = {"Location: /file"};
    return request.path == "/file" ? serve(request, content_) : reply;
  });
  auto moved = what(server);
  moved.urls = {server.url("/once")};
  download(moved, options_);
  EXPECT_EQ(there(), content_);
  fs::remove(file_);
  moved.urls = {server.url("/loop")};
  EXPECT_THAT(failure(moved), HasSubstr("redirect"));
  EXPECT_EQ(server.requests().size(), 2U + 6U);
}

TEST_F(Downloads, OnlyHttpIsSpoken) {
  write_file_atomically(folder_ / "local", "secret");
  const std::string local = "file://" + (folder_ / "local").string();
  EXPECT_THAT(failure({{local}, file_, "", 1 << 20}), HasSubstr("rotocol"));
  HttpServer server([&](const auto&) {
    HttpReply reply;
    reply.status = 302;
    reply.headers = {"Location: " + local};
    return reply;
  });
  EXPECT_THAT(failure(what(server)), HasSubstr("rotocol"));
}

TEST_F(Downloads, SilenceIsNotWaitedForForever) {
  HttpServer server([&](const HttpRequest& request) {
    auto reply = serve(request, content_);
    if (!request.range_begin) reply.hang_after = 1000;
    return reply;
  });
  options_.stall_timeout = std::chrono::milliseconds(300);
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
  EXPECT_EQ(server.requests().at(1).range_begin, 1000U);
}

TEST_F(Downloads, AServerThatGivesCrumbsIsGivenUpSomeTime) {
  HttpServer server([&](const HttpRequest& request) {
    auto reply = serve(request, content_);
    reply.cut_after = 1;
    return reply;
  });
  EXPECT_THAT(
      failure(what(server)), HasSubstr("not whole after 200 connections"));
}

TEST_F(Downloads, ALengthThatIsALieIsFoundOut) {
  HttpServer longer([&](const HttpRequest& request) {
    auto reply = serve({request.path, std::nullopt}, content_);
    reply.declared_length = static_cast<long>(content_.size()) + 10;
    return reply;
  });
  EXPECT_THAT(failure(what(longer)), HasSubstr("10 bytes"));
  EXPECT_EQ(longer.requests().size(), 5U); // none got further
  fs::remove(part_);
  HttpServer shorter([&](const HttpRequest& request) {
    auto reply = serve(request, content_);
    reply.declared_length = 1000;
    return reply;
  });
  EXPECT_THAT(failure(what(shorter)), HasSubstr("SHA-256"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(Downloads, WhoWatchesMayCancelAndContinueLater) {
  HttpServer server([&](const HttpRequest& request) {
    auto reply = serve(request, content_);
    if (!request.range_begin) reply.hang_after = 50'000;
    return reply;
  });
  struct Cancelled {};
  options_.progress = [](std::uint64_t done, std::uint64_t) {
    if (done >= 50'000) throw Cancelled{};
  };
  EXPECT_THROW(download(what(server), options_), Cancelled);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(fs::file_size(part_), 50'000U);
  options_.progress = nullptr;
  download(what(server), options_);
  EXPECT_EQ(there(), content_);
}

} // namespace
} // namespace temper::data
