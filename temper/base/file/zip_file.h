// Reading zip archives that may be damaged or hostile. libzip judges the
// archive and inflates; entries stored as they are lie in the mapped file and
// are handed out without a copy. Used by .npz datasets, .pt2 models and .pth
// weights.
//
// Checked before anything is allocated: no entry overlaps another or leaves the
// file, none has two names or a name twice, and none announces more than
// deflate can make of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace temper {

// Bytes that live as long as somebody holds them.
struct SharedBytes {
  std::shared_ptr<const std::byte> data;
  std::size_t size = 0;
};

class ZipFile {
 public:
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0; // unpacked
    std::uint64_t packed_bytes = 0;
    bool stored = false;
    std::uint64_t offset = 0; // of its bytes, packed as they are
    std::uint32_t crc = 0;
  };

  // Error, opening with "[room]" and ending with the hint, when it is no sound
  // archive. So do all errors of this object.
  ZipFile(std::filesystem::path path, std::string room, std::string hint);
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  const std::filesystem::path& path() const {
    return path_;
  }
  // The entries in the archive's order.
  const std::vector<Entry>& entries() const {
    return entries_;
  }
  // The entry of that name; null when the archive has none.
  const Entry* find(const std::string& name) const;

  // The entry's bytes, checksum verified; in the mapped file when it is stored.
  SharedBytes read(const Entry& entry) const;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Archive;

  void take_entries();
  SharedBytes unpack(const Entry& entry, std::uint64_t index) const;

  std::filesystem::path path_;
  std::string room_;
  std::string hint_;
  std::unique_ptr<Archive> archive_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> places_;
};

} // namespace temper
