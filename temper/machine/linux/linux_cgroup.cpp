// Finding the directory of a control group takes two files. /proc/self/cgroup
// names the group within its hierarchy; /proc/self/mountinfo says which part of
// the hierarchy is mounted where. They agree on a plain system. In a container
// they often do not: with a cgroup namespace the name is "/" or climbs out of
// it ("/../../x"), without one it is the host's name and only the container's
// own part is mounted. Where the named directory is not there, the mount is
// the best we can see, and in a container it is the container's own group.
#include "temper/machine/linux/linux_cgroup.h"

#include <algorithm>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/machine/linux/linux_mounts.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

bool lists(std::string_view commas, std::string_view word) {
  const auto parts = split(commas, ',');
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

// "4:memory:/a/b" (version 1), "0::/a/b" (version 2).
std::optional<std::string>
group_name(std::string_view text, int version, std::string_view controller) {
  while (!text.empty()) {
    const auto line = next_line(text);
    const auto first = line.find(':');
    if (first == std::string_view::npos) continue;
    const auto second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const bool ours = version == 2
        ? line.substr(0, first) == "0" && controllers.empty()
        : lists(controllers, controller);
    if (ours) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

bool climbs_out(const std::string& name) {
  const auto parts = split(name, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

// The group's path below the mount, "" for the mount itself.
std::string below_mount(const Mount& mount, const std::string& name) {
  if (climbs_out(name) || name.empty() || name == "/") return "";
  if (mount.root == "/" || climbs_out(mount.root)) return name;
  if (!name.starts_with(mount.root)) return "";
  const std::string rest = name.substr(mount.root.size());
  return rest.empty() || rest.front() == '/' ? rest : "";
}

void add_groups(
    std::vector<Cgroup>& groups,
    const fs::path& root,
    const Mount& mount,
    int version,
    const std::string& name) {
  const fs::path top = root / fs::path(mount.point).relative_path();
  const std::string prefix =
      mount.root == "/" || climbs_out(mount.root) ? "" : mount.root;
  std::string below = below_mount(mount, name);
  std::error_code ignored;
  if (!fs::is_directory(top / fs::path(below).relative_path(), ignored))
    below.clear();
  while (true) {
    while (!below.empty() && below.back() == '/')
      below.pop_back();
    const std::string full = clean(prefix + below);
    groups.push_back(
        {version,
         top / fs::path(below).relative_path(),
         full.empty() ? "/" : full});
    if (below.empty()) return;
    below.erase(below.rfind('/') == std::string::npos ? 0 : below.rfind('/'));
  }
}

// "max", garbage and a senseless 0 are no limit. Version 1 writes a number
// near 2^63 for none.
std::optional<std::uint64_t> memory_limit_of(const Cgroup& group) {
  const auto bytes = read_number(
      group.directory /
      (group.version == 2 ? "memory.max" : "memory.limit_in_bytes"));
  constexpr std::uint64_t kNone = std::uint64_t{1} << 62;
  return bytes && *bytes > 0 && *bytes < kNone ? bytes : std::nullopt;
}

// "inactive_file 4096": the cache the kernel gives up first.
std::uint64_t droppable_cache(const Cgroup& group) {
  const auto text = read_small_file(group.directory / "memory.stat");
  if (!text) return 0;
  const std::string_view key =
      group.version == 2 ? "inactive_file" : "total_inactive_file";
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto parts = words(next_line(rest));
    if (parts.size() == 2 && parts[0] == key)
      return parse_u64(parts[1]).value_or(0);
  }
  return 0;
}

std::optional<double> quota_of(const Cgroup& group) {
  std::optional<std::uint64_t> quota_us;
  std::optional<std::uint64_t> period_us;
  if (group.version == 2) {
    const std::string line = read_line(group.directory / "cpu.max");
    const auto parts = words(line);
    if (parts.size() != 2) return std::nullopt;
    quota_us = parse_u64(parts[0]); // "max": none
    period_us = parse_u64(parts[1]);
  } else {
    quota_us = read_number(group.directory / "cpu.cfs_quota_us"); // -1: none
    period_us = read_number(group.directory / "cpu.cfs_period_us");
  }
  if (!quota_us || !period_us || *quota_us == 0 || *period_us == 0)
    return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

} // namespace

std::vector<Cgroup> linux_cgroups(
    const fs::path& root,
    std::string_view controller) {
  const auto text = read_small_file(root / "proc/self/cgroup");
  if (!text) return {};
  std::vector<Cgroup> groups;
  for (const Mount& mount : linux_mounts(root)) {
    const bool unified = mount.type == "cgroup2";
    const bool legacy =
        mount.type == "cgroup" && lists(mount.options, controller);
    if (!unified && !legacy) continue;
    const int version = unified ? 2 : 1;
    if (const auto name = group_name(*text, version, controller))
      add_groups(groups, root, mount, version, *name);
  }
  return groups;
}

std::optional<CgroupLimit> memory_limit(const std::vector<Cgroup>& groups) {
  std::optional<CgroupLimit> tightest;
  for (const Cgroup& group : groups) {
    const auto bytes = memory_limit_of(group);
    if (!bytes || (tightest && tightest->bytes <= *bytes)) continue;
    tightest = {*bytes, cat("cgroup v", group.version, " ", group.name)};
  }
  return tightest;
}

std::optional<double> cpu_quota(const std::vector<Cgroup>& groups) {
  std::optional<double> tightest;
  for (const Cgroup& group : groups) {
    const auto quota = quota_of(group);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  }
  return tightest;
}

// cpu.stat: "nr_periods 12", "nr_throttled 3", the same in both versions.
std::optional<Throttling> cpu_throttling(const std::vector<Cgroup>& groups) {
  std::optional<Throttling> most;
  for (const Cgroup& group : groups) {
    const std::string text =
        read_small_file(group.directory / "cpu.stat").value_or("");
    Throttling seen;
    for (std::string_view rest = text; !rest.empty();) {
      const auto parts = words(next_line(rest));
      if (parts.size() != 2) continue;
      if (parts[0] == "nr_periods")
        seen.periods = parse_u64(parts[1]).value_or(0);
      if (parts[0] == "nr_throttled")
        seen.throttled = parse_u64(parts[1]).value_or(0);
    }
    if (seen.periods == 0) continue;
    if (!most || seen.throttled > most->throttled) most = seen;
  }
  return most;
}

std::optional<std::uint64_t> memory_available(
    const std::vector<Cgroup>& groups) {
  std::optional<std::uint64_t> least;
  for (const Cgroup& group : groups) {
    const auto limit = memory_limit_of(group);
    if (!limit) continue;
    const auto charged = read_number(
        group.directory /
        (group.version == 2 ? "memory.current" : "memory.usage_in_bytes"));
    if (!charged) continue;
    const auto used = *charged - std::min(*charged, droppable_cache(group));
    const auto left = *limit - std::min(*limit, used);
    if (!least || left < *least) least = left;
  }
  return least;
}

} // namespace temper::machine
