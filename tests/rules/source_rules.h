// The rules of the tree that a compiler does not check: which room may include
// which, where torch may be included, who may print or exit. A rule is a pure
// function of one file's text, so that the rules themselves are tested.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace temper::rules {

struct SourceFile {
  std::string path; // below temper/: "machine/probe.h"
  std::string text;
};

// One line each, "machine/probe.h:12: ...". Empty: the file keeps the rules.
std::vector<std::string> broken_rules(
    const SourceFile& file,
    const std::set<std::string>& torch_files);

// The files CMake builds with torch: set(torch_files ...) of its list.
std::set<std::string> torch_files_of(const std::string& cmake_lists);

} // namespace temper::rules
