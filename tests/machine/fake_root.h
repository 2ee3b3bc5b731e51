// A directory that stands in for "/": the tests write the /proc and /sys of
// machines we do not have into it. Removed with the test.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace temper::machine {

class FakeRoot {
 public:
  FakeRoot() {
    std::string name =
        (std::filesystem::temp_directory_path() / "temper-root-XXXXXX")
            .string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temp directory");
    path_ = name;
  }
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  // `name` as on the real machine, "/proc/cpuinfo".
  void write(std::string_view name, std::string_view text) const {
    const auto file = at(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  std::filesystem::path at(std::string_view name) const {
    return path_ / std::filesystem::path(name).relative_path();
  }
  const std::filesystem::path& path() const {
    return path_;
  }

 private:
  std::filesystem::path path_;
};

} // namespace temper::machine
