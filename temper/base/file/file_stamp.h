// The facts that the system notes of a file and changes with every write to it.
// Equal stamps mean an untouched file, once they are old enough: two writes
// within one tick of the file system's clock leave the same times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace temper {

struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0; // since 1970; programs may set it
  std::int64_t changed_ns = 0; // likewise, but only the system sets it
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  // One number over all four fields.
  std::uint64_t hash() const;
  // Both times lie far enough back for a later write to show.
  bool is_settled(std::int64_t now_ns) const;
};

// Links are followed. No value when there is no such regular file.
std::optional<FileStamp> file_stamp(const std::string& path);
// The stamp of an open file.
std::optional<FileStamp> file_stamp(int descriptor);

// The time since 1970 by the system's clock, which file systems use.
std::int64_t wall_clock_ns();

} // namespace temper
