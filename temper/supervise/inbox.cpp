#include "temper/supervise/inbox.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>

#include "temper/base/error.h"

namespace temper::supervise {
namespace {

constexpr int kMostSignals = 65;
std::array<std::atomic<int>, kMostSignals> came{};
std::atomic<int> bell{-1}; // the pipe's write end

void note(int signal) {
  const int before = errno;
  came[static_cast<std::size_t>(signal)].fetch_add(1);
  const char byte = 0;
  // Full: then it rings already.
  [[maybe_unused]] const auto rung = ::write(bell.load(), &byte, 1);
  errno = before;
}

} // namespace

Inbox::Inbox() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0)
    throw Error("[supervise] no pipe.", "Are too many files open?");
  pipe_.read = Descriptor(ends[0]);
  pipe_.write = Descriptor(ends[1]);
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  bell = ends[1];
  for (auto& each : came)
    each = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const int signal = i < kPassedOn.size() ? kPassedOn[i] : SIGCHLD;
    ::sigaction(signal, nullptr, &before_[i]);
    if (signal != SIGCHLD && before_[i].sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
}

Inbox::~Inbox() {
  for (std::size_t i = 0; i < before_.size(); ++i)
    ::sigaction(
        i < kPassedOn.size() ? kPassedOn[i] : SIGCHLD, &before_[i], nullptr);
  bell = -1;
}

void Inbox::wait(double seconds) const {
  pollfd watched{pipe_.read.get(), POLLIN, 0};
  const int ms = static_cast<int>(std::ceil(seconds * 1e3));
  if (::poll(&watched, 1, ms > 0 ? ms : 0) <= 0) return;
  std::array<char, 64> bytes{};
  while (::read(pipe_.read.get(), bytes.data(), bytes.size()) > 0) {
  }
}

int Inbox::count(int signal) const {
  return came[static_cast<std::size_t>(signal)].load();
}

} // namespace temper::supervise
