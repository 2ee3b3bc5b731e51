// A folder of a test's own, gone when the test is, and files in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace temper::tests {

inline void write_bytes(
    const std::filesystem::path& path,
    std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TempFolder {
 public:
  TempFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "temper-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const {
    return path_;
  }
  std::filesystem::path operator/(const std::filesystem::path& name) const {
    return path_ / name;
  }
  // For what is named by a text, as sources are.
  std::string text(const std::string& name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  // Makes the folders above it, too. Returns where it is.
  std::filesystem::path write(
      const std::filesystem::path& name,
      std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    write_bytes(file, bytes);
    return file;
  }

 private:
  std::filesystem::path path_;
};

} // namespace temper::tests
