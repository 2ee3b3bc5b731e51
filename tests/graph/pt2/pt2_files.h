// Where the .pt2 files of the tests are, and a folder for those they write.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temper/base/error.h"
#include "tests/paths.h"
#include "tests/shared_data.h"

namespace temper::graph {

inline std::filesystem::path pt2_fixture(const std::string& name) {
  return tests::fixtures() / "pt2" / (name + ".pt2");
}

// Those that temper reads; branch, loop and waves it refuses.
inline const std::vector<std::string>& pt2_fixtures() {
  static const std::vector<std::string> names{
      "arguments",  "attention",       "autocast", "buffers", "cnn",
      "cnn_eval",   "cnn_fixed_batch", "counting", "dropout", "functional",
      "hard_batch", "lists",           "modern",   "no_grad", "per_channel",
      "recurrent",  "shared",          "sizes",    "tied",    "two_inputs"};
  return names;
}

// The five larger ones, for tests that skip without them.
inline std::filesystem::path shared_pt2() {
  return tests::shared_data() / "pt2";
}

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Pt2Folder {
 public:
  Pt2Folder() {
    // In memory where there is such a place: writing waits for the disk.
    const std::filesystem::path memory = "/dev/shm";
    std::string pattern = ((std::filesystem::is_directory(memory)
                                ? memory
                                : std::filesystem::temp_directory_path()) /
                           "temper-XXXXXX")
                              .string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Pt2Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Pt2Folder(const Pt2Folder&) = delete;
  Pt2Folder& operator=(const Pt2Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// Message and hint of the Error that `work` ends with; "" when it does not.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "";
}

} // namespace temper::graph
