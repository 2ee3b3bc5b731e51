#include <libproc.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "temper/supervise/system.h"

namespace temper::supervise {

bool is_traced() {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, ::getpid()};
  kinfo_proc about{};
  std::size_t size = sizeof(about);
  if (::sysctl(name, 4, &about, &size, nullptr, 0) != 0) return false;
  return (about.kp_proc.p_flag & P_TRACED) != 0;
}

// By its path alone: a Mac starts no program by a descriptor.
HeldProgram::HeldProgram(std::filesystem::path path) : path_(std::move(path)) {}

std::string HeldProgram::path() const {
  return path_.string();
}

std::optional<std::uint64_t> memory_of(pid_t pid) {
  rusage_info_v2 usage{};
  if (::proc_pid_rusage(
          pid, RUSAGE_INFO_V2, reinterpret_cast<rusage_info_t*>(&usage)) != 0)
    return std::nullopt;
  return usage.ri_phys_footprint;
}

// Jetsam keeps no such count for programs to read.
std::optional<std::int64_t> memory_kills() {
  return std::nullopt;
}

// The unified log is asked by a program (log show) that takes many seconds.
KernelLog::KernelLog() = default;

std::string KernelLog::about(pid_t) const {
  return "";
}

} // namespace temper::supervise
