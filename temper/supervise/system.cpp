#include "temper/supervise/system.h"

#include "temper/base/text.h"

namespace temper::supervise {

std::string words_about(std::string_view log, pid_t pid) {
  // "Out of memory: Killed process 123 (temper) ...", "temper[123]: segfault
  // at ...", "traps: temper[123] general protection fault ...".
  const std::string killed = cat("illed process ", pid, " ");
  const std::string named = cat("[", pid, "]");
  std::string found;
  while (!log.empty()) {
    const auto end = log.find('\n');
    std::string_view line = log.substr(0, end);
    log.remove_prefix(end == log.npos ? log.size() : end + 1);
    if (!contains(line, killed) && !contains(line, named)) continue;
    // A record of /dev/kmsg: "6,339,5140900,-;words".
    const auto head = line.find(';');
    if (head != line.npos && head < 64) line.remove_prefix(head + 1);
    constexpr std::size_t kLongest = 300;
    found = std::string(trim(line.substr(0, kLongest)));
  }
  return found;
}

} // namespace temper::supervise
