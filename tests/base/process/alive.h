// Whether a process is still running, for tests that had it killed.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace temper::tests {

// A killed process goes away in its own time, and an orphan stays a zombie
// until init reaps it: it gets half a second.
inline bool alive(std::optional<std::int64_t> pid) {
  if (!pid) throw std::runtime_error("not a process id");
  for (int i = 0; i < 100; ++i) {
    if (::kill(static_cast<pid_t>(*pid), 0) != 0) return false;
    std::ifstream stat("/proc/" + std::to_string(*pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    if (text.find(") Z ") != std::string::npos) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

} // namespace temper::tests
