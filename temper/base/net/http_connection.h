// HTTP requests on libcurl, whose handle, callbacks and options are here alone.
// Used by downloads (data/fetch) and the MLflow server's client (track/mlflow),
// which decide what an answer means and what is said of a failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace temper {

// The certificates that are believed over TLS.
struct HttpTrust {
  bool anybody = false; // certificates are not looked at
  std::string authorities; // a bundle, or a folder of them; empty: the system's
  std::string client_certificate; // with its key
};

// A GET unless there is a body (POST) or a file (PUT). Callbacks run on the
// thread that performs; an exception of theirs ends the request and leaves
// perform().
struct HttpRequest {
  std::string url; // http or https
  std::string method; // empty: as above
  std::vector<std::string> headers; // "Accept: text/plain"
  const std::string* body = nullptr;
  std::FILE* file = nullptr;
  std::uint64_t file_bytes = 0;
  std::uint64_t offset = 0; // not 0: asks for what is behind these bytes
  int redirects = 0; // followed; what began encrypted stays so
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{0}; // of the whole; 0: none
  HttpTrust trust;

  // Another response begins; a redirect brings several.
  std::function<void()> on_response;
  // The name in lower case, the value without blanks around it.
  std::function<void(const std::string& name, std::string_view value)>
      on_header;
  // A piece of the body. False ends the request.
  std::function<bool(long status, std::string_view piece)> on_body;
  // Comes about once a second, and oftener while data flow. False ends the
  // request.
  std::function<bool()> on_tick;
};

struct HttpEnd {
  enum class Kind {
    answered, // `status` is the server's
    timed_out,
    untrusted, // the server's certificate
    hopeless, // the address or its redirects will not do
    failed, // the network, or a callback that said no
  };
  Kind kind = Kind::failed;
  long status = 0;
  std::string why; // unless it was answered, in libcurl's words
};

// Keeps its connection open from one request to the next. For one thread.
class HttpConnection {
 public:
  HttpConnection();
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // False if libcurl does not start; perform() must not be called then.
  bool works() const;
  HttpEnd perform(const HttpRequest& request);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

} // namespace temper
