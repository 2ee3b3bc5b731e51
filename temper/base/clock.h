// Time that passed, on the clock that nobody sets, and the time of day.
#pragma once

#include <chrono>

namespace temper {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

// From some beginning that stays the same while a system is up.
inline double steady_seconds() {
  return seconds_since({});
}

inline double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

} // namespace temper
