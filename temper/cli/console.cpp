#include "temper/cli/console.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::cli {
namespace {

int terminal_width(const Environment& environment) {
  constexpr int kNarrowest = 40;
  constexpr int kWidest = 120; // longer lines are hard to read
  constexpr int kInPipe = 100;
  int columns = kInPipe;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    columns = size.ws_col;
  else if (const auto set = variable(environment, "COLUMNS"))
    columns = static_cast<int>(std::clamp<std::int64_t>(
        parse_int(*set).value_or(kInPipe), 0, kWidest));
  return std::clamp(columns, kNarrowest, kWidest);
}

bool wants_colour(const Environment& environment) {
  const auto no_colour = variable(environment, "NO_COLOR");
  if (no_colour && !no_colour->empty()) return false;
  if (variable(environment, "TERM").value_or("dumb") == "dumb") return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

} // namespace

Console::Console(const Environment& environment)
    : colour_(wants_colour(environment)),
      live_(
          ::isatty(STDERR_FILENO) == 1 &&
          variable(environment, "TERM").value_or("dumb") != "dumb"),
      width_(terminal_width(environment)) {}

void Console::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) == 0 && written) return;
  const std::string why = std::strerror(errno);
  if (!outlives_output_)
    throw Error(
        cat("[cli] cannot write the output: ", why, "."),
        "Is the disk it goes to full?");
  std::clearerr(stdout);
  if (std::exchange(told_of_output_, true)) return;
  std::fprintf(
      stderr,
      "temper: warning: cannot write the output: %s. The run goes on; its "
      "journal has everything.\n",
      why.c_str());
}

void Console::outlive_output() {
  outlives_output_ = true;
  // Whoever read it may have gone.
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, nullptr);
}

void Console::progress(const std::string& what) {
  if (!live_ || quiet_) return;
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr, "\r\033[K%s", what.c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

void Console::log(log::Level level, const std::string& line) {
  if (level == log::Level::detail && !verbose_) return;
  if (level == log::Level::note && quiet_) return;
  const std::lock_guard lock(mutex_);
  clear_progress();
  std::fprintf(
      stderr,
      "temper: %s%s\n",
      level == log::Level::warning ? "warning: " : "",
      line.c_str());
}

void Console::error(const std::string& what, const std::string& hint) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  std::fprintf(stderr, "temper: %s\n", what.c_str());
  if (!hint.empty()) std::fprintf(stderr, "  %s\n", hint.c_str());
}

void Console::clear_progress() {
  if (!progress_shown_ && !(shared_ && live_)) return;
  std::fputs("\r\033[K", stderr);
  progress_shown_ = false;
}

} // namespace temper::cli
