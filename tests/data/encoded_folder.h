// A folder that goes away again, small images to put into it, and what an
// Error says. For the tests of sources made of encoded files.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "temper/base/error.h"

namespace temper::data {

class EncodedFolder {
 public:
  EncodedFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "temper-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error("no temporary folder");
    path_ = pattern;
  }
  ~EncodedFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  EncodedFolder(const EncodedFolder&) = delete;
  EncodedFolder& operator=(const EncodedFolder&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  void write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream out(path_ / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

// A PPM of one colour; its red says which one it is.
inline std::string small_image(int red, int width = 2, int height = 1) {
  std::string image =
      "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (int i = 0; i < width * height; ++i)
    image += {static_cast<char>(red), 2, 3};
  return image;
}

// What and hint of the Error that `work` ends with; "" when it does not.
template <class Work>
std::string complaint(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "";
}

// Real photographs in class folders, for the tests that skip without them.
inline std::filesystem::path photographs() {
  const char* set = std::getenv("TEMPER_SHARED_DATA");
  const std::filesystem::path shared = set != nullptr
      ? std::filesystem::path(set)
      : std::filesystem::path(TEMPER_SOURCE_DIR) / "../shared/data";
  return shared / "imagenette-mini";
}

} // namespace temper::data
