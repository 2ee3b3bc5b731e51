// A program on a terminal of its own, for tests of what a terminal shows.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "temper/base/environment.h"
#include "temper/base/process/spawn.h"
#include "temper/base/text.h"

namespace temper::tests {

// Ended together with what it started.
class OnTerminal {
 public:
  OnTerminal(
      std::vector<std::string> words,
      const Environment& extra,
      int columns = 0)
      : terminal_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (!terminal_.open() || ::grantpt(terminal_.get()) != 0 ||
        ::unlockpt(terminal_.get()) != 0)
      return;
    if (columns > 0) resize(columns);
    const Descriptor inside(
        ::open(::ptsname(terminal_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ProgramStart start;
    start.arguments = std::move(words);
    start.extra = extra;
    start.in = start.out = start.err = inside.get();
    start.own_group = true;
    std::string why;
    pid_ = spawn(start, why).value_or(-1);
  }
  ~OnTerminal() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }

  bool started() const {
    return pid_ > 0;
  }
  void resize(int columns) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 50;
    ::ioctl(terminal_.get(), TIOCSWINSZ, &size);
  }
  // The text written since the last time; waits for something, at most so long.
  std::string read(std::chrono::milliseconds within) {
    pollfd asked{terminal_.get(), POLLIN, 0};
    if (::poll(&asked, 1, static_cast<int>(within.count())) <= 0) return "";
    char piece[4096];
    const ssize_t got = ::read(terminal_.get(), piece, sizeof piece);
    return got <= 0 ? "" : std::string(piece, static_cast<std::size_t>(got));
  }
  bool shows(const std::string& text, std::chrono::seconds within) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < end && !contains(seen_, text))
      seen_ += read(std::chrono::milliseconds(100));
    return contains(seen_, text);
  }
  const std::string& seen() const {
    return seen_;
  }

 private:
  Descriptor terminal_;
  pid_t pid_ = -1;
  std::string seen_;
};

} // namespace temper::tests
