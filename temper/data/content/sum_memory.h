// Sums of files' contents from earlier starts, so that a large file is read
// once and not at every start. A sum counts as long as the file's stamp is the
// one it was taken under, and is only kept of files that had settled by then.
// One small file in the cache directory for each folder of data; losing it
// costs nothing but reading again. Used by content.cpp.
// Private to data/content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

#include "temper/base/file/file_stamp.h"

namespace temper::data {

class SumMemory {
 public:
  // The memory for data in the folder of `first`. An empty `folder` remembers
  // nothing.
  SumMemory(
      const std::filesystem::path& folder,
      const std::filesystem::path& first);

  std::optional<std::uint64_t> recall(
      const std::string& path,
      const FileStamp& stamp) const;
  void
  remember(const std::string& path, const FileStamp& stamp, std::uint64_t sum);
  // Writes the file when something is new. A folder that cannot be written is
  // left at that.
  void save() const;

 private:
  struct Known {
    std::uint64_t stamp;
    std::uint64_t sum;
  };
  void load();

  std::filesystem::path file_;
  std::unordered_map<std::uint64_t, Known> known_; // by the path's hash
  bool changed_ = false;
};

} // namespace temper::data
