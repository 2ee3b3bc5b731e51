// Facts of the system about a process that is watched, or has died; in files of
// their own for each system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "temper/base/file/descriptor.h"

namespace temper::supervise {

// Is a debugger attached to this process?
bool is_traced();

// A program's file, to start it again and again: the same one, also when
// another build has taken its place.
class HeldProgram {
 public:
  explicit HeldProgram(std::filesystem::path path);
  // The path to start now.
  std::string path() const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

// The memory of a process: resident on Linux, the physical footprint on a Mac.
std::optional<std::uint64_t> memory_of(pid_t pid);

// How often the kernel killed for want of memory, in our control group; counts
// up. No value where that is not told.
std::optional<std::int64_t> memory_kills();

// The kernel's log from now on, so that a line is about this process and not
// about an earlier one with its number. Empty when we may not read it: in a
// container its numbers are others.
class KernelLog {
 public:
  KernelLog();
  // The last line about the end of a process.
  std::string about(pid_t pid) const;

 private:
  Descriptor log_;
};

// The same in a text of the kernel's log: its last line about that process.
std::string words_about(std::string_view log, pid_t pid);

} // namespace temper::supervise
