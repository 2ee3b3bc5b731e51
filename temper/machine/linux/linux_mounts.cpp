#include "temper/machine/linux/linux_mounts.h"

#include <algorithm>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

// Blanks and backslashes in a path come as three octal digits: "\040".
std::string unescape(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) &&
        octal(text[i + 2]) && octal(text[i + 3])) {
      out += static_cast<char>(
          (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] -
          '0');
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool holds(const std::string& point, const std::string& path) {
  if (point == "/") return path.starts_with("/");
  if (!path.starts_with(point)) return false;
  return path.size() == point.size() || path[point.size()] == '/';
}

} // namespace

// 36 35 98:0 /root /point rw,noatime [optional fields ...] - ext4 /dev/sda rw
std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    const auto parts = words(next_line(text));
    if (parts.size() < 7) continue;
    const auto dash = std::find(parts.begin() + 6, parts.end(), "-");
    if (parts.end() - dash < 3) continue;
    Mount mount;
    mount.root = unescape(parts[3]);
    mount.point = unescape(parts[4]);
    mount.type = dash[1];
    // The source may be empty, which leaves one field less.
    mount.options = parts.back();
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::vector<Mount> linux_mounts(const std::filesystem::path& root) {
  const auto text = read_small_file(root / "proc/self/mountinfo");
  return text ? parse_mountinfo(*text) : std::vector<Mount>{};
}

std::string filesystem_type(
    const std::vector<Mount>& mounts,
    const std::filesystem::path& path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    if (!holds(mount.point, path.string())) continue;
    // The later of two on the same point covers the earlier.
    if (!best || mount.point.size() >= best->point.size()) best = &mount;
  }
  return best ? clean(best->type) : "";
}

} // namespace temper::machine
