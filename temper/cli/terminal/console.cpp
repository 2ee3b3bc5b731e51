#include "temper/cli/terminal/console.h"

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

constexpr int kNarrowest = 40;
constexpr int kWidest = 120; // longer lines are hard to read
constexpr int kInPipe = 100;

int asked_columns(const Environment& environment) {
  const auto set = variable(environment, "COLUMNS");
  if (!set) return 0;
  return static_cast<int>(
      std::clamp<std::int64_t>(parse_int(*set).value_or(0), 0, kWidest));
}

// The width of the terminal behind a descriptor; 0: there is none.
int terminal_columns(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// A sentence within the window, what follows its first row set in. What is laid
// out already, in several lines, stays as it is.
std::string laid_out(const std::string& text, int width) {
  constexpr int kIndent = 2;
  if (width <= kIndent || contains(text, "\n")) return text;
  const auto rows = wrap(text, static_cast<std::size_t>(width - kIndent));
  return join(rows, cat("\n", std::string(kIndent, ' ')));
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
      columns_(asked_columns(environment)) {}

int Console::width() const {
  int columns = terminal_columns(STDOUT_FILENO);
  if (columns == 0) columns = columns_;
  return std::clamp(columns == 0 ? kInPipe : columns, kNarrowest, kWidest);
}

int Console::line_width() const {
  const int columns = terminal_columns(STDERR_FILENO);
  return columns == 0 ? width() : columns;
}

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
  // Without the terminal's own wrapping: a window that was narrowed since its
  // width was asked for cuts the line, and shows no second row of it.
  std::fputs(cat("\r\033[J\033[?7l", what, "\033[?7h\r").c_str(), stderr);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Console::log(log::Level level, const std::string& line) {
  if (level == log::Level::detail && !verbose_) return;
  if (level == log::Level::note && quiet_) return;
  const std::lock_guard lock(mutex_);
  clear_progress();
  const std::string said =
      cat("temper: ", level == log::Level::warning ? "warning: " : "", line);
  std::fprintf(
      stderr, "%s\n", laid_out(said, terminal_columns(STDERR_FILENO)).c_str());
}

void Console::error(const std::string& what, const std::string& hint) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  const int columns = terminal_columns(STDERR_FILENO);
  std::fprintf(
      stderr, "%s\n", laid_out(cat("temper: ", what), columns).c_str());
  if (!hint.empty())
    std::fprintf(stderr, "  %s\n", laid_out(hint, columns - 2).c_str());
}

void Console::clear_progress() {
  if (!progress_shown_ && !(shared_ && live_)) return;
  std::fputs("\r\033[J", stderr);
  progress_shown_ = false;
}

} // namespace temper::cli
