#include "temper/base/net/http_connection.h"

#include <curl/curl.h>

#include <exception>
#include <filesystem>
#include <system_error>

#include "temper/base/text.h"

namespace temper {
namespace {

// A request under way, as the callbacks of libcurl see it. No exception may
// pass through libcurl.
struct Exchange {
  const HttpRequest& request;
  CURL* curl;
  std::exception_ptr thrown = nullptr;

  template <class Call>
  bool guarded(const Call& call) {
    try {
      return call();
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
};

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

void take_header(const HttpRequest& request, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    if (request.on_response) request.on_response();
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !request.on_header) return;
  request.on_header(lower(line.substr(0, colon)), trim(line.substr(colon + 1)));
}

std::size_t on_header(char* data, std::size_t, std::size_t bytes, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  const bool taken = exchange.guarded([&] {
    take_header(exchange.request, {data, bytes});
    return true;
  });
  return taken ? bytes : 0;
}

std::size_t on_body(char* data, std::size_t, std::size_t bytes, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  if (!exchange.request.on_body) return bytes;
  const bool taken = exchange.guarded([&] {
    return exchange.request.on_body(
        status_of(exchange.curl), std::string_view(data, bytes));
  });
  return taken ? bytes : 0;
}

std::size_t
on_read(char* into, std::size_t size, std::size_t count, void* self) {
  return std::fread(
      into, size, count, static_cast<Exchange*>(self)->request.file);
}

int on_progress(
    void* self,
    curl_off_t /*down_total*/,
    curl_off_t /*down*/,
    curl_off_t /*up_total*/,
    curl_off_t /*up*/) {
  auto& exchange = *static_cast<Exchange*>(self);
  if (!exchange.request.on_tick) return 0;
  return exchange.guarded(exchange.request.on_tick) ? 0 : 1;
}

void set_callbacks(CURL* curl, Exchange& exchange) {
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
  curl_easy_setopt(curl, CURLOPT_READDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
}

void set_address(CURL* curl, const HttpRequest& request) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "temper");
  curl_easy_setopt(
      curl,
      CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(request.connect_timeout.count()));
  curl_easy_setopt(
      curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  if (request.redirects == 0) return;
  const bool https = lower(request.url).starts_with("https:");
  curl_easy_setopt(
      curl, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(
      curl, CURLOPT_MAXREDIRS, static_cast<long>(request.redirects));
}

void set_trust(CURL* curl, const HttpTrust& trust) {
  if (trust.anybody) {
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  } else if (std::error_code failed;
             std::filesystem::is_directory(trust.authorities, failed)) {
    curl_easy_setopt(curl, CURLOPT_CAPATH, trust.authorities.c_str());
  } else if (!trust.authorities.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, trust.authorities.c_str());
  }
  const std::string& certificate = trust.client_certificate;
  if (certificate.empty()) return;
  curl_easy_setopt(curl, CURLOPT_SSLCERT, certificate.c_str());
  curl_easy_setopt(curl, CURLOPT_SSLKEY, certificate.c_str());
}

// Sets the range that is asked for, and the body that is sent.
void set_contents(CURL* curl, const HttpRequest& request) {
  if (request.offset > 0) // libcurl keeps a copy
    curl_easy_setopt(curl, CURLOPT_RANGE, cat(request.offset, "-").c_str());
  if (request.file != nullptr) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(
        curl,
        CURLOPT_INFILESIZE_LARGE,
        static_cast<curl_off_t>(request.file_bytes));
  } else if (request.body != nullptr) {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body->c_str());
    curl_easy_setopt(
        curl,
        CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request.body->size()));
  }
  if (!request.method.empty())
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

HttpEnd::Kind kind_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::Kind::answered;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpEnd::Kind::timed_out;
    case CURLE_PEER_FAILED_VERIFICATION:
      return HttpEnd::Kind::untrusted;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return HttpEnd::Kind::hopeless;
    default:
      return HttpEnd::Kind::failed;
  }
}

} // namespace

struct HttpConnection::Handle {
  CURL* curl = nullptr;

  Handle() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready == CURLE_OK) curl = curl_easy_init();
  }
  ~Handle() {
    if (curl != nullptr) curl_easy_cleanup(curl);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

HttpConnection::HttpConnection() : handle_(std::make_unique<Handle>()) {}

HttpConnection::~HttpConnection() = default;

bool HttpConnection::works() const {
  return handle_->curl != nullptr;
}

HttpEnd HttpConnection::perform(const HttpRequest& request) {
  CURL* curl = handle_->curl;
  curl_easy_reset(curl); // options only: the connection stays open
  char detail[CURL_ERROR_SIZE] = "";
  Exchange exchange{request, curl};
  curl_slist* headers = nullptr;
  for (const std::string& header : request.headers)
    headers = curl_slist_append(headers, header.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  set_callbacks(curl, exchange);
  set_address(curl, request);
  set_trust(curl, request.trust);
  set_contents(curl, request);
  const CURLcode code = curl_easy_perform(curl);
  curl_slist_free_all(headers);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr); // it ends with us
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  HttpEnd end;
  end.kind = kind_of(code);
  end.status = status_of(curl);
  if (code != CURLE_OK)
    end.why = *detail != 0 ? detail : curl_easy_strerror(code);
  return end;
}

} // namespace temper
