// A file mapped into memory for reading. Holds no file descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace temper {

class MappedFile {
 public:
  // Error, with the path and the system's reason, when it cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::uint8_t> bytes() const {
    return {data_, size_};
  }
  std::size_t size() const {
    return size_;
  }

  // Reads will jump about; do not read ahead.
  void expect_random_access() const;

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace temper
