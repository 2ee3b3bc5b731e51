// The threads of this process, for tests of what must not leave one behind.
#pragma once

#include <chrono>
#include <filesystem>
#include <thread>

namespace temper::tests {

// 0 where the system does not tell.
inline int thread_count() {
  std::error_code unknown;
  const std::filesystem::directory_iterator threads("/proc/self/task", unknown);
  if (unknown) return 0;
  int count = 0;
  for (const auto& thread : threads)
    count += thread.is_directory(unknown) ? 1 : 0;
  return count;
}

// Whether no more than so many are left. One that was joined may still be
// counted for a moment.
inline bool no_more_threads_than(int count) {
  constexpr int kLooks = 2000;
  for (int i = 0; i < kLooks; ++i) {
    if (thread_count() <= count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

} // namespace temper::tests
