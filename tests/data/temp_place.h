// A directory that is gone when the test is.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temper/base/text.h"

namespace temper::data {

class TempPlace {
 public:
  TempPlace() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
        cat("temper-loader-", ::getpid(), "-", number++);
    std::filesystem::create_directories(path_);
  }
  ~TempPlace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempPlace(const TempPlace&) = delete;
  TempPlace& operator=(const TempPlace&) = delete;

  std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(
    const std::filesystem::path& path,
    const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace temper::data
