// A directory that stands in for "/": the tests write the /proc and /sys of
// machines we do not have into it. Removed with the test.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/temp_folder.h"

namespace temper::machine {

class FakeRoot {
 public:
  // `name` as on the real machine, "/proc/cpuinfo".
  void write(std::string_view name, std::string_view text) const {
    folder_.write(std::filesystem::path(name).relative_path(), text);
  }
  std::filesystem::path at(std::string_view name) const {
    return folder_ / std::filesystem::path(name).relative_path();
  }
  const std::filesystem::path& path() const {
    return folder_.path();
  }

 private:
  tests::TempFolder folder_;
};

} // namespace temper::machine
