// Starts a program with its three standard streams on pipes. The lower half of
// process.cpp, which follows the child and ends it; nobody else needs this.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace temper {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  bool open() const {
    return fd_ >= 0;
  }
  int get() const {
    return fd_;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// We keep our own copy of the read end of the child's standard input while it
// runs: a write then never finds the pipe without readers, and SIGPIPE cannot
// arise.
struct Child {
  pid_t pid = -1; // also the id of its process group
  Pipe in;
  Descriptor out;
  Descriptor err;
};

// Our ends never block. Nothing, with `error` set, when the program could not
// be started.
std::optional<Child> start_child(
    const std::vector<std::string>& arguments,
    std::string& error);

} // namespace temper
