#include "temper/machine/disk.h"

#include <sys/statvfs.h>

namespace temper::machine {

namespace fs = std::filesystem;

fs::path full_path(const fs::path& path) {
  std::error_code error; // the working directory may have been removed
  fs::path full = fs::absolute(path.empty() ? "." : path, error);
  return error ? fs::path("/") : full;
}

std::string shown_path(const fs::path& path) {
  const fs::path tidy = full_path(path).lexically_normal();
  const bool directory = !tidy.has_filename() && tidy != tidy.root_path();
  return (directory ? tidy.parent_path() : tidy).string();
}

fs::path nearest_existing(const fs::path& path) {
  fs::path at = full_path(path);
  std::error_code ignored;
  while (!fs::exists(at, ignored) && at != at.root_path())
    at = at.parent_path();
  return at;
}

Disk disk_space(const fs::path& path) {
  Disk disk;
  disk.path = shown_path(path);
  struct statvfs space {};
  if (statvfs(nearest_existing(path).c_str(), &space) != 0) return disk;
  const auto block_bytes = static_cast<std::uint64_t>(space.f_frsize);
  disk.total_bytes = static_cast<std::uint64_t>(space.f_blocks) * block_bytes;
  disk.free_bytes = static_cast<std::uint64_t>(space.f_bavail) * block_bytes;
  return disk;
}

} // namespace temper::machine
