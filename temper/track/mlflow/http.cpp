#include "temper/track/mlflow/http.h"

#include <signal.h>

#include <cstdio>
#include <filesystem>

#include "temper/base/net/http_connection.h"
#include "temper/base/text.h"
#include "temper/track/follow/target.h"
#include "temper/track/tracker.h"

namespace temper::track {
namespace {

constexpr std::size_t kLongestBody = std::size_t{4} << 20;

std::string percent_decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const std::string hex = text.substr(i + 1, 2);
      out += static_cast<char>(std::strtol(hex.c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

void keep_header(
    HttpReply& reply,
    const std::string& name,
    std::string_view value) {
  if (name == "content-type") reply.content_type = value;
  if (name == "retry-after")
    reply.retry_after_s = parse_double(value).value_or(0);
}

void keep_body(HttpReply& reply, std::string_view piece) {
  reply.body += piece.substr(0, kLongestBody - reply.body.size());
}

HttpRequest json_request(const std::string& url, const std::string& json) {
  HttpRequest request;
  request.url = url;
  request.body = &json;
  request.headers = {"Content-Type: application/json"};
  return request;
}

} // namespace

HttpClient::HttpClient(const std::string& url, HttpSettings settings)
    : settings_(std::move(settings)),
      base_(without_secrets(url)),
      connection_(std::make_unique<HttpConnection>()) {
  const auto hide = [&](const std::string& secret) {
    if (!secret.empty()) secrets_.push_back(secret);
  };
  if (base_.size() < url.size()) {
    const auto begin = url.find("://") + 3;
    const std::string both = url.substr(begin, url.size() - base_.size() - 1);
    const auto colon = both.find(':');
    hide(both);
    if (settings_.username.empty()) {
      settings_.username = percent_decoded(both.substr(0, colon));
      if (colon != std::string::npos) {
        hide(both.substr(colon + 1));
        settings_.password = percent_decoded(both.substr(colon + 1));
      }
    }
  }
  const bool user = !settings_.username.empty() && !settings_.password.empty();
  const std::string encoded =
      user ? base64(cat(settings_.username, ":", settings_.password)) : "";
  if (user)
    authorization_ = cat("Authorization: Basic ", encoded);
  else if (!settings_.token.empty())
    authorization_ = cat("Authorization: Bearer ", settings_.token);
  for (const auto& secret : {settings_.password, settings_.token, encoded})
    hide(secret);
}

HttpClient::~HttpClient() = default;

std::string HttpClient::hidden(std::string text) const {
  for (const std::string& secret : secrets_)
    for (auto at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + 3))
      text.replace(at, secret.size(), "***");
  return text;
}

HttpReply HttpClient::perform(HttpRequest& request) {
  // A server that hangs up is an answer, not a reason to die.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  if (!connection_->works()) throw Error("[track] libcurl does not start.");

  auto& headers = request.headers;
  headers.emplace_back("Expect:"); // do not wait to be asked for the body
  headers.emplace_back("Accept: application/json, text/plain");
  if (!authorization_.empty()) headers.push_back(authorization_);
  if (!settings_.workspace.empty())
    headers.push_back(cat("X-MLFLOW-WORKSPACE: ", settings_.workspace));
  request.timeout = std::chrono::milliseconds(
      static_cast<std::int64_t>(settings_.timeout_s * 1000));
  request.trust = {
      settings_.insecure_tls, settings_.ca_file, settings_.client_certificate};
  HttpReply reply;
  request.on_header = [&](const std::string& name, std::string_view value) {
    keep_header(reply, name, value);
  };
  request.on_body = [&](long, std::string_view piece) {
    keep_body(reply, piece);
    return true;
  };
  request.on_tick = [&] { return !gave_up_; };
  const HttpEnd end = connection_->perform(request);
  if (end.kind != HttpEnd::Kind::answered) refuse(end);
  reply.status = end.status;
  return reply;
}

void HttpClient::refuse(const HttpEnd& end) const {
  std::string hint = "Is the server running, and the address right?";
  if (end.kind == HttpEnd::Kind::timed_out)
    hint = "Is the server overloaded, or a firewall in between?";
  if (end.kind == HttpEnd::Kind::untrusted)
    hint =
        "Name your CA's file in MLFLOW_TRACKING_SERVER_CERT_PATH, or set "
        "MLFLOW_TRACKING_INSECURE_TLS=true where that is safe.";
  throw Unavailable(
      cat("[track] cannot reach ", base_, ": ", hidden(end.why), "."), hint);
}

HttpReply HttpClient::get(const std::string& url) {
  HttpRequest request;
  request.url = url;
  return perform(request);
}

HttpReply HttpClient::post(const std::string& url, const std::string& json) {
  HttpRequest request = json_request(url, json);
  return perform(request);
}

HttpReply HttpClient::patch(const std::string& url, const std::string& json) {
  HttpRequest request = json_request(url, json);
  request.method = "PATCH";
  return perform(request);
}

HttpReply HttpClient::put_file(
    const std::string& url,
    const std::filesystem::path& file,
    const std::string& content_type) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> open(
      std::fopen(file.c_str(), "rb"), &std::fclose);
  std::error_code failed;
  HttpRequest request;
  request.url = url;
  request.file = open.get();
  request.file_bytes = std::filesystem::file_size(file, failed);
  if (!content_type.empty())
    request.headers.push_back(cat("Content-Type: ", content_type));
  if (!open || failed)
    throw Error(cat("[track] cannot read ", file.string(), "."));
  return perform(request);
}

} // namespace temper::track
