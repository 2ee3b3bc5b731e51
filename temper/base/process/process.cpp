#include "temper/base/process/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "temper/base/process/spawn.h"
#include "temper/base/text.h"

// One loop feeds standard input, collects both outputs and looks whether the
// child is still there. It looks by a short tick: what would wake us exactly
// (pidfd, kqueue, SIGCHLD) is either not portable or a change to the whole
// process, and the end of the pipes says nothing, as a grandchild may keep
// them open.

namespace temper {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using End = ProcessResult::End;

constexpr milliseconds kShortestTick{1};
constexpr milliseconds kLongestTick{20};

void feed(Descriptor& into, const std::string& input, std::size_t& fed) {
  while (into.open() && fed < input.size()) {
    const auto count =
        ::write(into.get(), input.data() + fed, input.size() - fed);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) break;
    fed += static_cast<std::size_t>(count);
  }
  into.close();
}

// False when more came than may be kept.
bool collect(Descriptor& from, std::string& kept, std::size_t limit) {
  std::array<char, 1 << 16> buffer{};
  while (from.open()) {
    const auto count = ::read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) {
      from.close();
      return true;
    }
    const auto room = limit - kept.size();
    const auto size = static_cast<std::size_t>(count);
    kept.append(buffer.data(), std::min(size, room));
    if (size > room) return false;
  }
  return true;
}

void wait_for_news(const Child& child, milliseconds at_most) {
  std::array<pollfd, 3> watched{{
      {child.in.write.get(), POLLOUT, 0}, // poll skips what is closed, -1
      {child.out.get(), POLLIN, 0},
      {child.err.get(), POLLIN, 0},
  }};
  ::poll(watched.data(), watched.size(), static_cast<int>(at_most.count()));
}

// Follows the child until it ends or a limit is met.
End follow(
    Child& child,
    const std::string& input,
    const ProcessLimits& limits,
    ProcessResult& result) {
  const auto deadline = Clock::now() + limits.time;
  std::size_t fed = 0;
  auto tick = kShortestTick;
  while (true) {
    // Asked before reading: what it wrote before it ended is then all there.
    const bool ended = has_ended(child.pid);
    feed(child.in.write, input, fed);
    if (!collect(child.out, result.out, limits.output_bytes) ||
        !collect(child.err, result.err, limits.output_bytes))
      return End::too_much_output;
    if (ended) return End::exited;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left <= milliseconds{0}) return End::timed_out;
    wait_for_news(child, std::min(tick, left));
    tick = std::min(2 * tick, kLongestTick);
  }
}

} // namespace

ProcessResult run_process(
    const std::vector<std::string>& arguments,
    const std::string& input,
    ProcessLimits limits) {
  ProcessResult result;
  if (arguments.empty() || arguments.front().empty()) {
    result.error = "no program was named";
    return result;
  }
  auto child = start_child(arguments, result.error);
  if (!child) return result;
  result.end = follow(*child, input, limits, result);
  const auto status = put_away(child->pid);
  if (result.end != End::exited) return result;
  if (!status) {
    result.code = -1;
    result.error = "its exit status could not be read";
  } else if (WIFSIGNALED(*status)) {
    result.end = End::signalled;
    result.code = WTERMSIG(*status);
  } else {
    result.code = WEXITSTATUS(*status);
  }
  return result;
}

std::string describe_end(
    const ProcessResult& result,
    const ProcessLimits& limits) {
  switch (result.end) {
    case End::exited:
      return cat("exit code ", result.code);
    case End::signalled:
      return cat("signal ", result.code, " (", ::strsignal(result.code), ")");
    case End::timed_out:
      return cat(
          "no end within ",
          seconds_text(std::chrono::duration<double>(limits.time).count()));
    case End::too_much_output:
      return cat("more than ", bytes_text(limits.output_bytes), " of output");
    case End::not_started:
      return cat("not started: ", result.error);
  }
  return "unknown";
}

} // namespace temper
