#include "named_files.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "temper/base/text.h"

namespace temper::rules {
namespace {

// Headers of other projects that comments speak of.
const std::set<std::string> kForeign{
    "torch/torch.h",
    "jpeglib.h",
    "Metal/MTLDevice.h"};

bool is_there(const std::string& name, const std::set<std::string>& tree) {
  const std::string end = cat("/", name);
  return kForeign.count(name) > 0 || tree.count(name) > 0 ||
      std::any_of(tree.begin(), tree.end(), [&](const std::string& path) {
           return path.ends_with(end);
         });
}

// The part of a line that is for readers.
std::string prose_of(const std::string& line, bool source) {
  if (!source) return line;
  const auto at = line.find("//");
  if (at == std::string::npos || line.find('"') < at) return "";
  return line.substr(at + 2);
}

} // namespace

std::vector<std::string> files_that_are_gone(
    const SourceFile& text,
    const std::set<std::string>& tree) {
  // Neither a part of a longer name nor a pattern: "absent*.cpp", "<x>.h".
  static const std::regex name(
      R"((^|[^\w/.<>*{}-])((?:[\w-]+/)*[\w-]+\.(?:h|cpp))\b)");
  const bool source = !text.path.ends_with(".md");
  std::vector<std::string> gone;
  std::istringstream lines(text.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string prose = prose_of(line, source);
    for (std::sregex_iterator at(prose.begin(), prose.end(), name), end;
         at != end;
         ++at)
      if (!is_there((*at)[2], tree))
        gone.push_back(
            cat(text.path, ":", number, ": there is no ", (*at).str(2)));
  }
  return gone;
}

} // namespace temper::rules
