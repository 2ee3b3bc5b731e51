#include "input_file.h"

#include <unistd.h>

#include <fstream>

namespace temper::fuzz {

namespace fs = std::filesystem;

namespace {

// In memory where there is such a place: a fuzzer writes thousands a second.
fs::path quick_folder() {
  const fs::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory
                                             : fs::temp_directory_path();
}

} // namespace

InputFile::InputFile(const std::string& suffix)
    : folder_(quick_folder() / ("temper-fuzz-" + std::to_string(::getpid()))),
      path_(folder_ / ("input" + suffix)) {
  fs::create_directories(folder_);
}

InputFile::~InputFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
  fs::remove(folder_, ignored); // when it was the last
}

const fs::path& InputFile::write(const void* data, std::size_t size) {
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file.write(
      static_cast<const char*>(data), static_cast<std::streamsize>(size));
  return path_;
}

} // namespace temper::fuzz
