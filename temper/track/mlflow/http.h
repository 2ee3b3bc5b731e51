// HTTP requests over one kept connection, for the MLflow tracker. Says what
// went wrong in words that hold no secret.
// Private to track/mlflow.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/environment.h"

namespace temper {
class HttpConnection;
struct HttpEnd;
struct HttpRequest;
} // namespace temper

namespace temper::track {

// The settings in MLflow's variables and credentials file.
struct HttpSettings {
  std::string username;
  std::string password;
  std::string token; // used when there is no user
  bool insecure_tls = false;
  std::string ca_file; // a bundle, or a folder of them
  std::string client_certificate;
  std::string workspace; // X-MLFLOW-WORKSPACE
  double timeout_s = 120;
};

// MLFLOW_TRACKING_USERNAME, _PASSWORD, _TOKEN, _INSECURE_TLS,
// _SERVER_CERT_PATH, _CLIENT_CERT_PATH, MLFLOW_HTTP_REQUEST_TIMEOUT,
// MLFLOW_WORKSPACE, and ~/.mlflow/credentials for what they leave open.
HttpSettings http_settings(const Environment& environment);

struct HttpReply {
  long status = 0;
  std::string body; // at most 4 MiB of it
  std::string content_type;
  double retry_after_s = 0;
};

class HttpClient {
 public:
  // `url` may hold user:password@; the settings win over them.
  HttpClient(const std::string& url, HttpSettings settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // "http://host:5000", without secrets.
  const std::string& base() const {
    return base_;
  }
  // `url` is whole. Unavailable when there was no whole answer.
  HttpReply get(const std::string& url);
  HttpReply post(const std::string& url, const std::string& json);
  HttpReply patch(const std::string& url, const std::string& json);
  HttpReply put_file(
      const std::string& url,
      const std::filesystem::path& file,
      const std::string& content_type);

  // The same text with every secret of ours taken out.
  std::string hidden(std::string text) const;
  // The request under way ends soon; from any thread.
  void give_up() {
    gave_up_ = true;
  }

 private:
  // With the settings and secrets of this client added.
  HttpReply perform(HttpRequest& request);
  [[noreturn]] void refuse(const HttpEnd& end) const;

  HttpSettings settings_;
  std::string base_;
  std::string authorization_; // the whole header; empty: none
  std::vector<std::string> secrets_;
  std::atomic<bool> gave_up_{false};
  std::unique_ptr<HttpConnection> connection_;
};

std::string base64(const std::string& bytes);
// A part of a path or query, every other byte as %XX.
std::string percent_encoded(const std::string& text, bool keep_slashes = false);

} // namespace temper::track
