// A small and wilful HTTP server on 127.0.0.1, for the tests of download.h:
// it can honour ranges or ignore them, cut connections, lie about lengths,
// redirect and dawdle. One connection at a time, in a thread of its own.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace temper::data {

struct HttpRequest {
  std::string path;
  std::optional<std::size_t> range_begin; // of "Range: bytes=N-"
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::vector<std::string> headers; // "Location: /elsewhere"
  // Said in the header; unset: the truth. -1: not said.
  std::optional<long> declared_length;
  std::optional<std::size_t> cut_after; // bytes of the body, then hang up
  std::optional<std::size_t> hang_after; // bytes of the body, then silence
};

// The answer of a well-behaved server for this file.
inline HttpReply serve(const HttpRequest& request, const std::string& file) {
  HttpReply reply;
  const std::size_t begin = request.range_begin.value_or(0);
  if (request.range_begin && begin >= file.size()) {
    reply.status = 416;
    reply.headers = {"Content-Range: bytes */" + std::to_string(file.size())};
    return reply;
  }
  reply.body = file.substr(begin);
  if (request.range_begin) {
    reply.status = 206;
    reply.headers = {
        "Content-Range: bytes " + std::to_string(begin) + "-" +
        std::to_string(file.size() - 1) + "/" + std::to_string(file.size())};
  }
  return reply;
}

class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  explicit HttpServer(Handler handler) : handler_(std::move(handler)) {
    std::signal(SIGPIPE, SIG_IGN); // clients hang up as they please
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* general = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, general, length) != 0 ||
        ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, general, &length) != 0)
      throw std::runtime_error("no socket on the loopback");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~HttpServer() {
    stopping_ = true;
    thread_.join();
    ::close(listener_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path = "/file") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  // The requests, in order.
  std::vector<HttpRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  bool wait_readable(int socket) {
    while (!stopping_) {
      pollfd waiting{socket, POLLIN, 0};
      if (::poll(&waiting, 1, 20) > 0) return true;
    }
    return false;
  }

  void run() {
    while (wait_readable(listener_)) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) continue;
      answer(connection);
      ::close(connection);
    }
  }

  void answer(int connection) {
    std::string head;
    char buffer[1024];
    while (head.find("\r\n\r\n") == std::string::npos) {
      if (head.size() > 16384 || !wait_readable(connection)) return;
      const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
      if (got <= 0) return;
      head.append(buffer, static_cast<std::size_t>(got));
    }
    HttpRequest request;
    const auto begin = head.find(' ') + 1;
    request.path = head.substr(begin, head.find(' ', begin) - begin);
    const std::string range = "Range: bytes=";
    if (const auto at = head.find(range); at != std::string::npos)
      request.range_begin = std::stoul(head.substr(at + range.size()));
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    send(connection, handler_(request));
  }

  void send(int connection, const HttpReply& reply) {
    std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " So\r\n";
    for (const auto& header : reply.headers)
      text += header + "\r\n";
    const long length =
        reply.declared_length.value_or(static_cast<long>(reply.body.size()));
    if (length >= 0)
      text += "Content-Length: " + std::to_string(length) + "\r\n";
    text += "Connection: close\r\n\r\n";
    const std::size_t sent = std::min(
        reply.cut_after.value_or(reply.body.size()),
        reply.hang_after.value_or(reply.body.size()));
    text += reply.body.substr(0, sent);
    for (std::size_t at = 0; at < text.size() && !stopping_;) {
      const ssize_t put =
          ::send(connection, text.data() + at, text.size() - at, 0);
      if (put <= 0) return;
      at += static_cast<std::size_t>(put);
    }
    // Until the client gives up; bounded, whatever happens.
    for (int i = 0; reply.hang_after && i < 500 && !stopping_; ++i) {
      pollfd gone{connection, POLLIN, 0};
      if (::poll(&gone, 1, 20) > 0) return;
    }
    ::shutdown(connection, SHUT_WR);
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

} // namespace temper::data
