#include "temper/data/fetch/transfer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/net/http_connection.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using End = Transfer::End;
using Clock = std::chrono::steady_clock;

struct Request {
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
};

std::optional<std::uint64_t> header_number(std::string_view text) {
  const auto value = parse_int(trim(text));
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

// "bytes 100-199/200", "bytes */200"
void read_content_range(std::string_view value, Request& request) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) return;
  value.remove_prefix(kUnit.size());
  const auto slash = value.find('/');
  if (slash == std::string_view::npos) return;
  request.range_total = header_number(value.substr(slash + 1));
  const auto dash = value.find('-');
  if (dash < slash) request.range_begin = header_number(value.substr(0, dash));
}

void begin_response(Request& request) {
  request.range_begin.reset();
  request.range_total.reset();
  request.length = 0;
}

void read_header(
    Request& request,
    const std::string& name,
    std::string_view value) {
  if (name == "content-range")
    read_content_range(value, request);
  else if (name == "content-length")
    request.length = header_number(value).value_or(0);
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
bool begin_body(Request& request, long status) {
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

bool append(Request& request, std::string_view piece) {
  const char* data = piece.data();
  std::size_t bytes = piece.size();
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

bool read_body(Request& request, long status, std::string_view piece) {
  if (status != 200 && status != 206) return true; // an error page
  if (!request.begun && !begin_body(request, status)) return false;
  return append(request, piece);
}

// Tells how far it is, and ends a request that stalls.
bool look_at(Request& request) {
  const auto now = Clock::now();
  if (std::exchange(request.last_size, request.size) != request.size)
    request.last_change = now;
  if (now - request.last_change > request.options->stall_timeout)
    return stop(request, End::try_again, "nothing came any more");
  if (request.options->progress)
    request.options->progress(request.size, request.total);
  return true;
}

void judge_status(Request& request, long status) {
  if (status == 200 || status == 206) {
    // A body of no bytes never reached on_body.
    if (!request.begun && !begin_body(request, status)) return;
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

void judge_failure(Request& request, const HttpEnd& end) {
  const bool hopeless = end.kind == HttpEnd::Kind::hopeless ||
      end.kind == HttpEnd::Kind::untrusted;
  request.result.end = hopeless ? End::hopeless : End::try_again;
  request.result.why = end.why;
}

HttpRequest http_request(const std::string& url, Request& request) {
  const DownloadOptions& options = *request.options;
  HttpRequest http;
  http.url = url;
  http.offset = request.offset;
  http.redirects = options.redirects;
  http.connect_timeout = options.connect_timeout;
  http.on_response = [&] { begin_response(request); };
  http.on_header = [&](const std::string& name, std::string_view value) {
    read_header(request, name, value);
  };
  http.on_body = [&](long status, std::string_view piece) {
    return read_body(request, status, piece);
  };
  http.on_tick = [&] { return look_at(request); };
  return http;
}

} // namespace

Transfer transfer(
    const std::string& url,
    int descriptor,
    std::uint64_t offset,
    std::uint64_t limit_bytes,
    const DownloadOptions& options) {
  HttpConnection connection;
  if (!connection.works()) throw Error("[data] libcurl does not start.");
  Request request;
  request.descriptor = descriptor;
  request.offset = offset;
  request.size = offset;
  request.limit_bytes = limit_bytes;
  request.options = &options;
  const HttpEnd end = connection.perform(http_request(url, request));
  if (end.kind == HttpEnd::Kind::answered)
    judge_status(request, end.status);
  else if (request.result.why.empty())
    judge_failure(request, end);
  request.result.size = request.size;
  return request.result;
}

} // namespace temper::data
