#include "temper/base/net/http_connection.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <stdexcept>

#include "tests/data/fetch/http_server.h"

namespace temper {
namespace {

class HttpConnectionTest : public testing::Test {
 protected:
  HttpConnectionTest() {
    ::setenv("no_proxy", "*", 1); // a proxy would not know our loopback
  }
  // Says "hello", and leads from /old to it.
  data::HttpServer server_{[](const data::HttpRequest& request) {
    data::HttpReply reply;
    if (request.path == "/old") {
      reply.status = 302;
      reply.headers = {"Location: /file"};
      return reply;
    }
    reply.headers = {"X-Mood:  good "};
    reply.body = "hello";
    return reply;
  }};
  HttpConnection connection_;
};

TEST_F(HttpConnectionTest, HandsOverStatusHeadersAndBody) {
  std::map<std::string, std::string> headers;
  std::string body;
  HttpRequest request;
  request.url = server_.url();
  request.on_header = [&](const std::string& name, std::string_view value) {
    headers[name] = value;
  };
  request.on_body = [&](long status, std::string_view piece) {
    EXPECT_EQ(status, 200);
    body += piece;
    return true;
  };
  for (int i = 0; i < 2; ++i) { // one connection serves many
    body.clear();
    const HttpEnd end = connection_.perform(request);
    EXPECT_EQ(end.kind, HttpEnd::Kind::answered);
    EXPECT_EQ(end.status, 200);
    EXPECT_EQ(body, "hello");
    EXPECT_EQ(headers["x-mood"], "good");
  }
}

TEST_F(HttpConnectionTest, FollowsAsManyRedirectsAsItMay) {
  int responses = 0;
  HttpRequest request;
  request.url = server_.url("/old");
  request.on_response = [&] { ++responses; };
  EXPECT_EQ(connection_.perform(request).status, 302);
  EXPECT_EQ(responses, 1);
  request.redirects = 1;
  EXPECT_EQ(connection_.perform(request).status, 200);
  EXPECT_EQ(responses, 3);
}

TEST_F(HttpConnectionTest, ACallbackEndsItByFalseOrByAnException) {
  HttpRequest request;
  request.url = server_.url();
  request.on_body = [](long, std::string_view) { return false; };
  const HttpEnd refused = connection_.perform(request);
  EXPECT_EQ(refused.kind, HttpEnd::Kind::failed);
  EXPECT_FALSE(refused.why.empty());
  request.on_body = [](long, std::string_view) -> bool {
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(connection_.perform(request), std::runtime_error);
  request.on_body = nullptr;
  EXPECT_EQ(connection_.perform(request).kind, HttpEnd::Kind::answered);
}

TEST_F(HttpConnectionTest, AnAddressThatWillNotDoIsHopeless) {
  HttpRequest request;
  request.url = "ftp://127.0.0.1/file";
  EXPECT_EQ(connection_.perform(request).kind, HttpEnd::Kind::hopeless);
}

} // namespace
} // namespace temper
