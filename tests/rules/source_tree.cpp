#include "source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/paths.h"

namespace temper::rules {

namespace fs = std::filesystem;

std::string read_source(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(tests::source_dir() / path).rdbuf();
  return text.str();
}

std::vector<SourceFile> source_tree(const std::string& folder) {
  const fs::path root = tests::source_dir() / folder;
  std::vector<SourceFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const auto kind = entry.path().extension();
    if (kind != ".cpp" && kind != ".h") continue;
    const auto path = fs::relative(entry.path(), root).string();
    files.push_back({path, read_source(folder + "/" + path)});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.path < b.path;
  });
  return files;
}

} // namespace temper::rules
