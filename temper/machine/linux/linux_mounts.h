// The mounted file systems, from /proc/self/mountinfo. The control groups and
// the file system of the run directory are found through it.
// Private to machine/linux.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace temper::machine {

struct Mount {
  std::string root; // the part of the file system that is mounted here
  std::string point;
  std::string type; // "ext4", "cgroup2"
  std::string options; // of the file system: "rw,memory"
};

std::vector<Mount> parse_mountinfo(std::string_view text);
std::vector<Mount> linux_mounts(const std::filesystem::path& root = "/");

// "ext4": the type of the mount that holds an absolute path without links.
std::string filesystem_type(
    const std::vector<Mount>& mounts,
    const std::filesystem::path& path);

} // namespace temper::machine
