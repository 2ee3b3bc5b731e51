// Writes zip archives whose entries are stored as they are, each beginning at a
// multiple of 64 bytes so that a reader can map them; PyTorch lays its archives
// out the same way. The same entries give the same bytes: no dates. Durable or
// absent, as every AtomicFile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "temper/base/file/atomic_file.h"

namespace temper {

class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  // Error when the disk does not take it. Names shorter than 64 KiB.
  void add(const std::string& name, const void* data, std::size_t bytes);
  void add(const std::string& name, std::string_view text) {
    add(name, text.data(), text.size());
  }
  // Writes the directory; after this the file is there for good.
  void commit();

 private:
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0; // of its header
    std::uint32_t crc = 0;
  };

  AtomicFile file_;
  std::vector<Entry> entries_;
};

} // namespace temper
