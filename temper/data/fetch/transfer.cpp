#include "temper/data/fetch/transfer.h"

#include <curl/curl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using End = Transfer::End;
using Clock = std::chrono::steady_clock;

struct Request {
  CURL* curl = nullptr;
  int descriptor = -1;
  std::uint64_t offset = 0; // asked for
  std::uint64_t limit_bytes = 0;
  const DownloadOptions* options = nullptr;

  // The headers of the response under way; a redirect brings several.
  std::optional<std::uint64_t> range_begin;
  std::optional<std::uint64_t> range_total;
  std::uint64_t length = 0; // of this body; 0: not said

  bool begun = false; // the body we want has begun
  std::uint64_t size = 0; // of the file
  std::uint64_t total = 0;
  std::uint64_t last_size = 0; // and since when nothing came
  Clock::time_point last_change = Clock::now();
  Transfer result;
  std::exception_ptr thrown;
};

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

std::optional<std::uint64_t> header_number(std::string_view text) {
  const auto value = parse_int(trim(text));
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

// "bytes 100-199/200", "bytes */200"
void read_content_range(std::string_view value, Request& request) {
  value = trim(value);
  if (!starts_with(value, "bytes ")) return;
  value.remove_prefix(6);
  const auto slash = value.find('/');
  if (slash == std::string_view::npos) return;
  request.range_total = header_number(value.substr(slash + 1));
  const auto dash = value.find('-');
  if (dash < slash) request.range_begin = header_number(value.substr(0, dash));
}

std::size_t on_header(char* data, std::size_t, std::size_t bytes, void* self) {
  auto& request = *static_cast<Request*>(self);
  const std::string_view line(data, bytes);
  if (starts_with(line, "HTTP/")) { // another response begins
    request.range_begin.reset();
    request.range_total.reset();
    request.length = 0;
    return bytes;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return bytes;
  const std::string name = lower(line.substr(0, colon));
  if (name == "content-range")
    read_content_range(line.substr(colon + 1), request);
  else if (name == "content-length")
    request.length = header_number(line.substr(colon + 1)).value_or(0);
  return bytes;
}

bool stop(Request& request, End end, const std::string& why) {
  request.result.end = end;
  request.result.why = why;
  return false;
}

bool stop_on_size(Request& request) {
  return stop(
      request,
      End::too_large,
      cat("it is larger than ", bytes_text(request.limit_bytes)));
}

// Whether the body is what we asked for, and where it goes in the file.
bool begin_body(Request& request) {
  const long status = status_of(request.curl);
  request.begun = true;
  if (status == 206 && request.range_begin == request.offset) {
    request.size = request.offset;
  } else if (status == 200 || status == 206) {
    // The server ignores ranges, or sends another one: a part of unknown
    // place is of no use, a whole file is.
    if (::ftruncate(request.descriptor, 0) != 0)
      return stop(request, End::disk, std::strerror(errno));
    request.size = 0;
    if (status == 206 && request.range_begin.value_or(1) != 0)
      return stop(
          request, End::try_again, "the server sent another part of it");
  }
  request.total = request.range_total.value_or(
      request.length > 0 ? request.size + request.length : 0);
  if (request.total > request.limit_bytes) return stop_on_size(request);
  return true;
}

bool append(Request& request, const char* data, std::size_t bytes) {
  if (bytes > request.limit_bytes - request.size) return stop_on_size(request);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(
        request.descriptor, data, bytes, static_cast<off_t>(request.size));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return stop(request, End::disk, std::strerror(errno));
    data += written;
    bytes -= static_cast<std::size_t>(written);
    request.size += static_cast<std::uint64_t>(written);
  }
  return true;
}

std::size_t on_body(char* data, std::size_t, std::size_t bytes, void* self) {
  auto& request = *static_cast<Request*>(self);
  const long status = status_of(request.curl);
  if (status != 200 && status != 206) return bytes; // an error page
  if (!request.begun && !begin_body(request)) return 0;
  return append(request, data, bytes) ? bytes : 0;
}

int on_progress(
    void* self,
    curl_off_t /*down_total*/,
    curl_off_t /*down*/,
    curl_off_t /*up_total*/,
    curl_off_t /*up*/) {
  auto& request = *static_cast<Request*>(self);
  const auto now = Clock::now();
  if (std::exchange(request.last_size, request.size) != request.size)
    request.last_change = now;
  if (now - request.last_change > request.options->stall_timeout) {
    stop(request, End::try_again, "nothing came any more");
    return 1;
  }
  if (!request.options->progress) return 0;
  try { // no exception may pass through curl
    request.options->progress(request.size, request.total);
    return 0;
  } catch (...) {
    request.thrown = std::current_exception();
    return 1;
  }
}

void set_up(Request& request, const std::string& url, std::string& range) {
  CURL* curl = request.curl;
  const bool https = starts_with(lower(url), "https:");
  const auto& options = *request.options;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  // What began encrypted stays so.
  curl_easy_setopt(
      curl, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(
      curl, CURLOPT_MAXREDIRS, static_cast<long>(options.redirects));
  curl_easy_setopt(
      curl,
      CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "temper");
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &request);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &request);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &request);
  if (request.offset > 0) {
    range = cat(request.offset, "-");
    curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  }
}

void judge_status(Request& request, long status) {
  if (status == 200 || status == 206) {
    // A body of no bytes never reached on_body.
    if (!request.begun && !begin_body(request)) return;
    if (request.total > request.size)
      stop(request, End::try_again, "the connection ended too early");
    else
      request.result.end = End::whole;
  } else if (status == 416 && request.range_total == request.offset) {
    request.result.end = End::whole; // nothing is missing
  } else if (status == 416) {
    ::ftruncate(request.descriptor, 0) == 0
        ? stop(request, End::try_again, "the part does not fit the file")
        : stop(request, End::disk, std::strerror(errno));
    request.size = 0;
  } else {
    const bool passing = status == 408 || status == 429 || status >= 500;
    stop(
        request,
        passing ? End::try_again : End::hopeless,
        cat("the server said ", status));
  }
}

void judge_failure(Request& request, CURLcode code, const char* detail) {
  switch (code) {
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
      request.result.end = End::hopeless;
      break;
    default:
      request.result.end = End::try_again;
  }
  request.result.why = *detail != 0 ? detail : curl_easy_strerror(code);
}

} // namespace

Transfer transfer(
    const std::string& url,
    int descriptor,
    std::uint64_t offset,
    std::uint64_t limit_bytes,
    const DownloadOptions& options) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
      ready == CURLE_OK ? curl_easy_init() : nullptr, &curl_easy_cleanup);
  if (!curl) throw Error("[data] libcurl does not start.");

  Request request;
  request.curl = curl.get();
  request.descriptor = descriptor;
  request.offset = offset;
  request.size = offset;
  request.limit_bytes = limit_bytes;
  request.options = &options;
  std::string range;
  char detail[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, detail);
  set_up(request, url, range);

  const CURLcode code = curl_easy_perform(curl.get());
  if (request.thrown) std::rethrow_exception(request.thrown);
  if (code == CURLE_OK)
    judge_status(request, status_of(curl.get()));
  else if (request.result.why.empty())
    judge_failure(request, code, detail);
  request.result.size = request.size;
  return request.result;
}

} // namespace temper::data
