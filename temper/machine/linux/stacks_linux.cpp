#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "temper/base/text.h"
#include "temper/machine/linux/linux_text.h"
#include "temper/machine/stacks_system.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTasks = "/proc/self/task";

} // namespace

std::vector<ThreadId> list_threads() {
  std::vector<ThreadId> threads;
  std::error_code failed;
  for (fs::directory_iterator entry(kTasks, failed);
       !failed && entry != fs::directory_iterator();
       entry.increment(failed))
    if (const auto id = parse_u64(entry->path().filename().string()))
      threads.push_back(*id);
  std::sort(threads.begin(), threads.end());
  return threads;
}

ThreadId this_thread() {
  return static_cast<ThreadId>(::syscall(SYS_gettid));
}

bool signal_thread(ThreadId thread, int signal) {
  return ::syscall(
             SYS_tgkill, ::getpid(), static_cast<pid_t>(thread), signal) == 0;
}

std::string name_thread(ThreadId thread) {
  const fs::path task = fs::path(kTasks) / cat(thread);
  std::string name = cat(thread, " ", read_line(task / "comm"));
  // In the kernel; "0" when it runs, or when it is not for us to know.
  const std::string waits = read_line(task / "wchan");
  if (!waits.empty() && waits != "0") name += cat(", waiting in ", waits);
  return name;
}

std::optional<double> waited_for_processor_s(ThreadId thread) {
  // "ran waited times", the first two in nanoseconds.
  std::istringstream line(
      read_line(fs::path(kTasks) / cat(thread) / "schedstat"));
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  if (!(line >> ran_ns >> waited_ns)) return std::nullopt;
  return static_cast<double>(waited_ns) / 1e9;
}

} // namespace temper::machine
