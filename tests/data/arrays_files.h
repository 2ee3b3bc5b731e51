// Files that the tests of array sources write for themselves: a folder that
// goes away again, and bytes in the order that a format wants.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "temper/base/error.h"

namespace temper::data {

class ArrayFolder {
 public:
  ArrayFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "temper-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~ArrayFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ArrayFolder(const ArrayFolder&) = delete;
  ArrayFolder& operator=(const ArrayFolder&) = delete;

  const std::filesystem::path& path() const {
    return path_;
  }
  std::filesystem::path write(
      const std::filesystem::path& name,
      std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream out(path_ / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string byte(int value) {
  return {static_cast<char>(value)};
}

inline std::string big_endian32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift);
  return bytes;
}

// Message and hint of the Error that `work` ends with; "" when it does not.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "";
}

// Where the real datasets are, for tests that skip without them.
inline std::filesystem::path shared_data() {
  const char* set = std::getenv("TEMPER_SHARED_DATA");
  if (set != nullptr) return set;
  return std::filesystem::path(TEMPER_SOURCE_DIR) / ".." / "shared" / "data";
}

} // namespace temper::data
