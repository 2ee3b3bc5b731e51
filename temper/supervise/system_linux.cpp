#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/machine/linux/linux_cgroup.h"
#include "temper/machine/linux/linux_text.h"
#include "temper/supervise/system.h"

namespace temper::supervise {

bool is_traced() {
  const std::string status = read_small_file("/proc/self/status").value_or("");
  const auto tracer = machine::field(status, "TracerPid");
  return tracer && *tracer != "0";
}

HeldProgram::HeldProgram(std::filesystem::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_PATH | O_CLOEXEC)) {}

// By its path, which gives the process its name in ps and top. When another
// build is there by now, by the descriptor, which still leads to this one.
std::string HeldProgram::path() const {
  const std::string link = cat("/proc/self/fd/", file_.get());
  std::error_code failed;
  const bool same = std::filesystem::equivalent(path_, link, failed) && !failed;
  return same || !file_.open() ? path_.string() : link;
}

std::optional<std::uint64_t> memory_of(pid_t pid) {
  const std::string status =
      read_small_file(cat("/proc/", pid, "/status")).value_or("");
  return machine::kib_field(status, "VmRSS");
}

std::optional<std::int64_t> memory_kills() {
  const auto groups = machine::linux_cgroups("/", "memory");
  if (groups.empty()) return std::nullopt;
  const char* file =
      groups.front().version == 2 ? "memory.events" : "memory.oom_control";
  const std::string text =
      read_small_file(groups.front().directory / file).value_or("");
  for (const std::string& line : split(text, '\n')) {
    const auto words = machine::words(line);
    if (words.size() == 2 && words[0] == "oom_kill")
      return parse_int(std::string(words[1]));
  }
  return std::nullopt;
}

KernelLog::KernelLog() {
  // That of the first namespace of processes, which the kernel fixes.
  constexpr const char* kOfAll = "pid:[4026531836]";
  std::error_code failed;
  if (std::filesystem::read_symlink("/proc/self/ns/pid", failed) != kOfAll)
    return;
  // One record a read; the first that is not there yet would block.
  log_ = Descriptor(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (log_.open()) ::lseek(log_.get(), 0, SEEK_END);
}

std::string KernelLog::about(pid_t pid) const {
  std::array<char, 8192> record{};
  std::string all;
  constexpr std::size_t kMost = std::size_t{8} << 20;
  while (log_.open() && all.size() < kMost) {
    const ssize_t count = ::read(log_.get(), record.data(), record.size());
    if (count < 0 && (errno == EPIPE || errno == EINTR)) continue; // overrun
    if (count <= 0) break;
    all.append(record.data(), static_cast<std::size_t>(count));
  }
  return words_about(all, pid);
}

} // namespace temper::supervise
