#include "temper/data/source/child_output.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{50};
constexpr std::size_t kKeptErrors = 2000;

} // namespace

ChildOutput::ChildOutput(
    std::string command,
    const Environment& extra,
    double patience_s,
    const std::atomic<bool>& interrupted)
    : command_(std::move(command)),
      patience_s_(patience_s),
      interrupted_(interrupted) {
  std::string error;
  auto child = start_child({"/bin/sh", "-c", command_}, error, extra);
  if (!child) refuse(cat("it cannot be started: ", error));
  child_ = std::move(*child);
  child_.in.write.close();
  child_.in.read.close();
}

ChildOutput::~ChildOutput() {
  if (child_.pid > 0) put_away(child_.pid);
}

void ChildOutput::refuse(const std::string& why) {
  drain_errors();
  const auto said = trim(said_);
  throw Error(
      cat("[data] the program of cmd:",
          command_,
          " failed: ",
          why,
          said.empty() ? "." : cat(". It said: ", said)),
      "Run it by hand and look at what it writes: a tar archive of samples, "
      "say 0001.png and 0001.cls.");
}

void ChildOutput::drain_errors() {
  std::array<char, 4096> buffer{};
  while (child_.err.open()) {
    const auto count = ::read(child_.err.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) child_.err.close();
    if (count <= 0) return;
    said_.append(buffer.data(), static_cast<std::size_t>(count));
    if (said_.size() > kKeptErrors) said_.erase(0, said_.size() - kKeptErrors);
  }
}

bool ChildOutput::wait() {
  const auto begin = Clock::now();
  for (;;) {
    if (interrupted_) throw Error("[data] reading was interrupted.");
    std::array<pollfd, 2> watched{{
        {child_.out.get(), POLLIN, 0},
        {child_.err.get(), POLLIN, 0}, // poll skips what is closed, -1
    }};
    ::poll(watched.data(), watched.size(), static_cast<int>(kTick.count()));
    drain_errors();
    if (watched[0].revents != 0) return true;
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() > patience_s_) return false;
  }
}

std::size_t ChildOutput::read(void* to, std::size_t bytes) {
  auto* at = static_cast<std::uint8_t*>(to);
  std::size_t got = 0;
  while (got < bytes && child_.out.open()) {
    const auto count = ::read(child_.out.get(), at + got, bytes - got);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (count == 0) {
      child_.out.close();
    } else if (errno == EAGAIN) {
      if (!wait())
        refuse(cat("it wrote nothing for ", seconds_text(patience_s_)));
    } else if (errno != EINTR) {
      refuse(cat("its output cannot be read: ", std::strerror(errno)));
    }
  }
  return got;
}

void ChildOutput::expect_success() {
  const auto begin = Clock::now();
  const std::chrono::duration<double> patience(std::min(patience_s_, 5.0));
  while (!has_ended(child_.pid) && Clock::now() - begin < patience) {
    drain_errors();
    std::this_thread::sleep_for(milliseconds{1});
  }
  // A child that has not ended by now is killed: all it had to say was read.
  const bool ended = has_ended(child_.pid);
  const auto status = put_away(std::exchange(child_.pid, -1));
  if (!ended || !status) return;
  if (WIFSIGNALED(*status))
    refuse(cat("it was ended by ", ::strsignal(WTERMSIG(*status))));
  if (WEXITSTATUS(*status) != 0)
    refuse(cat("it ended with exit code ", WEXITSTATUS(*status)));
}

} // namespace temper::data
