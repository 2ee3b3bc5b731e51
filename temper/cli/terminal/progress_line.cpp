#include "temper/cli/terminal/progress_line.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper::cli {
namespace {

constexpr std::chrono::milliseconds kLive{100};
constexpr std::chrono::seconds kPlain{10};

std::string amount(std::uint64_t value, bool bytes) {
  return bytes ? bytes_text(value)
               : count_text(static_cast<std::int64_t>(value));
}

} // namespace

ProgressLine::ProgressLine(Console& console)
    : console_(console), next_(Clock::now()), begin_(next_) {
  if (!console.live()) next_ += kPlain;
}

void ProgressLine::show(
    const std::string& what,
    std::uint64_t done,
    std::uint64_t total,
    bool bytes) {
  const auto now = Clock::now();
  if (what != what_) {
    what_ = what;
    begin_ = now;
    begin_done_ = done;
  }
  if (now < next_) return;
  next_ = console_.live() ? now + kLive : now + kPlain;

  std::string line = cat(what, ": ", amount(done, bytes));
  if (total > 0)
    line += cat(
        " of ",
        amount(total, bytes),
        " (",
        decimals(
            100.0 * static_cast<double>(done) / static_cast<double>(total), 0),
        " %)");
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  if (seconds > 1 && done > begin_done_) {
    const double rate = static_cast<double>(done - begin_done_) / seconds;
    line += cat(", ", amount(static_cast<std::uint64_t>(rate), bytes), "/s");
    if (total > done)
      line +=
          cat(", ",
              seconds_text(static_cast<double>(total - done) / rate),
              " left");
  }
  if (!console_.live()) {
    log::note(line);
    return;
  }
  // Whole parts go, the last first.
  const auto room = static_cast<std::size_t>(console_.line_width() - 1);
  while (line.size() > room && line.rfind(", ") != std::string::npos)
    line.resize(line.rfind(", "));
  console_.progress(line);
}

} // namespace temper::cli
