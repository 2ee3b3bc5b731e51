// The input as a file, for readers that take a path.
#pragma once

#include <filesystem>
#include <string>

namespace temper::fuzz {

// One file of this process, written anew each time; removed at the end.
class InputFile {
 public:
  explicit InputFile(const std::string& suffix);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& write(const void* data, std::size_t size);

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

} // namespace temper::fuzz
