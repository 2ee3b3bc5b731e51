#include "temper/base/file/nearest_file.h"

#include <algorithm>
#include <vector>

#include "temper/base/nearest.h"

namespace temper {

std::optional<std::string> nearest_file(const std::filesystem::path& missing) {
  constexpr std::size_t kMostNames = 10'000;
  const std::filesystem::path folder = missing.parent_path();
  std::vector<std::string> names;
  std::error_code failure;
  std::filesystem::directory_iterator entry(
      folder.empty() ? "." : folder, failure);
  while (!failure && entry != std::filesystem::directory_iterator() &&
         names.size() < kMostNames) {
    names.push_back(entry->path().filename().string());
    entry.increment(failure);
  }
  std::sort(names.begin(), names.end());
  const auto near = nearest(missing.filename().string(), names);
  if (!near) return std::nullopt;
  return (folder / *near).string();
}

} // namespace temper
