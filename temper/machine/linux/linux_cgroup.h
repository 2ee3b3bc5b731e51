// The control groups that bind this process: its own and every ancestor that
// is visible, of version 1 and of version 2 (a machine may have both mounted).
// A limit anywhere on the way up holds, so the tightest one counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace temper::machine {

struct Cgroup {
  int version = 2;
  std::filesystem::path directory;
  std::string name; // "/user.slice", as its hierarchy calls it
};

// The groups from the process's own up to the mount, for one controller:
// "memory", "cpu".
std::vector<Cgroup> linux_cgroups(
    const std::filesystem::path& root,
    std::string_view controller);

struct CgroupLimit {
  std::uint64_t bytes = 0;
  std::string source; // "cgroup v2 /user.slice"
};

// The tightest limit set; it may well be above physical memory.
std::optional<CgroupLimit> memory_limit(const std::vector<Cgroup>& groups);

// The quota in CPUs: 1.5 is one and a half.
std::optional<double> cpu_quota(const std::vector<Cgroup>& groups);

// How often a quota ran out, since the group was made.
struct Throttling {
  std::uint64_t periods = 0;
  std::uint64_t throttled = 0; // periods in which it ran out
};

// The throttling of the group that was held back most; no value where none has
// a quota.
std::optional<Throttling> cpu_throttling(const std::vector<Cgroup>& groups);

// The bytes left below the limits. File cache that the kernel would drop first
// counts as left.
std::optional<std::uint64_t> memory_available(
    const std::vector<Cgroup>& groups);

} // namespace temper::machine
