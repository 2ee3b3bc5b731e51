// A file that is durable or absent. Written beside its final name, synced,
// renamed, and the directory synced: a crash or a full disk leaves the old
// file or the new one, never a part.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace temper {

class AtomicFile {
 public:
  // Error when the temporary file cannot be made.
  explicit AtomicFile(std::filesystem::path path);
  // Removes what was not committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Error, with the system's reason, when the disk does not take it.
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text);
  // Writes over what is already there, as a header filled in at the end.
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  std::uint64_t size() const {
    return size_;
  }
  // After this, the file exists under its name and survives a power cut.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

void write_file_atomically(
    const std::filesystem::path& path,
    std::string_view text);

} // namespace temper
