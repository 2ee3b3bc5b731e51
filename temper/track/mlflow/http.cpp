#include "temper/track/mlflow/http.h"

#include <curl/curl.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>

#include "temper/base/text.h"
#include "temper/track/follow/target.h"
#include "temper/track/tracker.h"

namespace temper::track {
namespace {

constexpr std::size_t kLongestBody = std::size_t{4} << 20;
constexpr long kConnectTimeoutMs = 10'000;

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

} // namespace

struct HttpClient::Handle {
  CURL* curl = nullptr;
  ~Handle() {
    if (curl != nullptr) curl_easy_cleanup(curl);
  }
};

struct HttpClient::Request {
  std::string method;
  std::string url;
  const std::string* body = nullptr;
  std::FILE* file = nullptr;
  std::uint64_t file_bytes = 0;
  std::string content_type;
  const std::atomic<bool>* gave_up = nullptr;
  HttpReply reply;

  static std::size_t
  on_body(char* data, std::size_t, std::size_t bytes, void* self) {
    auto& request = *static_cast<Request*>(self);
    const std::size_t room = kLongestBody - request.reply.body.size();
    request.reply.body.append(data, std::min(bytes, room));
    return bytes;
  }
  static std::size_t
  on_header(char* data, std::size_t, std::size_t bytes, void* self) {
    auto& request = *static_cast<Request*>(self);
    const std::string line(data, bytes);
    const auto colon = line.find(':');
    if (colon == std::string::npos) return bytes;
    const std::string name = lower(line.substr(0, colon));
    const std::string value(trim(line.substr(colon + 1)));
    if (name == "content-type") request.reply.content_type = value;
    if (name == "retry-after")
      request.reply.retry_after_s = parse_double(value).value_or(0);
    return bytes;
  }
  static std::size_t
  on_read(char* into, std::size_t size, std::size_t count, void* self) {
    return std::fread(into, size, count, static_cast<Request*>(self)->file);
  }
  static int
  on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return *static_cast<Request*>(self)->gave_up ? 1 : 0;
  }
};

HttpClient::HttpClient(const std::string& url, HttpSettings settings)
    : settings_(std::move(settings)),
      base_(without_secrets(url)),
      handle_(std::make_unique<Handle>()) {
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

HttpReply HttpClient::perform(Request& request) {
  // A server that hangs up is an answer, not a reason to die.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (handle_->curl == nullptr && ready == CURLE_OK)
    handle_->curl = curl_easy_init();
  CURL* curl = handle_->curl;
  if (curl == nullptr) throw Error("[track] libcurl does not start.");
  curl_easy_reset(curl); // options only: the connection stays open

  curl_slist* headers = nullptr;
  const auto add = [&](const std::string& header) {
    headers = curl_slist_append(headers, header.c_str());
  };
  add("Expect:"); // do not wait to be asked for the body
  add("Accept: application/json, text/plain");
  if (!authorization_.empty()) add(authorization_);
  if (!settings_.workspace.empty())
    add(cat("X-MLFLOW-WORKSPACE: ", settings_.workspace));
  if (!request.content_type.empty())
    add(cat("Content-Type: ", request.content_type));

  char detail[CURL_ERROR_SIZE] = "";
  request.gave_up = &gave_up_;
  const auto timeout_ms = static_cast<long>(settings_.timeout_s * 1000);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "temper");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Request::on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &request);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, Request::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &request);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, Request::on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &request);
  if (settings_.insecure_tls) {
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  } else if (std::error_code failed;
             std::filesystem::is_directory(settings_.ca_file, failed)) {
    curl_easy_setopt(curl, CURLOPT_CAPATH, settings_.ca_file.c_str());
  } else if (!settings_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca_file.c_str());
  }
  if (!settings_.client_certificate.empty()) {
    curl_easy_setopt(
        curl, CURLOPT_SSLCERT, settings_.client_certificate.c_str());
    curl_easy_setopt(
        curl, CURLOPT_SSLKEY, settings_.client_certificate.c_str());
  }
  if (request.file != nullptr) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, Request::on_read);
    curl_easy_setopt(curl, CURLOPT_READDATA, &request);
    curl_easy_setopt(
        curl,
        CURLOPT_INFILESIZE_LARGE,
        static_cast<curl_off_t>(request.file_bytes));
  } else if (request.body != nullptr) {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    if (!request.method.empty())
      curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body->c_str());
    curl_easy_setopt(
        curl,
        CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request.body->size()));
  }
  const CURLcode code = curl_easy_perform(curl);
  curl_slist_free_all(headers);
  if (code == CURLE_OK) {
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &request.reply.status);
    return std::move(request.reply);
  }
  const std::string why =
      hidden(*detail != 0 ? detail : curl_easy_strerror(code));
  std::string hint = "Is the server running, and the address right?";
  if (code == CURLE_OPERATION_TIMEDOUT)
    hint = "Is the server overloaded, or a firewall in between?";
  if (code == CURLE_PEER_FAILED_VERIFICATION)
    hint =
        "Name your CA's file in MLFLOW_TRACKING_SERVER_CERT_PATH, or set "
        "MLFLOW_TRACKING_INSECURE_TLS=true where that is safe.";
  throw Unavailable(cat("[track] cannot reach ", base_, ": ", why, "."), hint);
}

HttpReply HttpClient::get(const std::string& url) {
  Request request;
  request.url = url;
  return perform(request);
}

HttpReply HttpClient::post(const std::string& url, const std::string& json) {
  Request request;
  request.url = url;
  request.body = &json;
  request.content_type = "application/json";
  return perform(request);
}

HttpReply HttpClient::patch(const std::string& url, const std::string& json) {
  Request request;
  request.url = url;
  request.body = &json;
  request.method = "PATCH";
  request.content_type = "application/json";
  return perform(request);
}

HttpReply HttpClient::put_file(
    const std::string& url,
    const std::filesystem::path& file,
    const std::string& content_type) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> open(
      std::fopen(file.c_str(), "rb"), &std::fclose);
  std::error_code failed;
  Request request;
  request.url = url;
  request.file = open.get();
  request.file_bytes = std::filesystem::file_size(file, failed);
  request.content_type = content_type;
  if (!open || failed)
    throw Error(cat("[track] cannot read ", file.string(), "."));
  return perform(request);
}

} // namespace temper::track
