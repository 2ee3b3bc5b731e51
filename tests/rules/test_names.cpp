#include "test_names.h"

#include <regex>

namespace temper::rules {

std::vector<std::string> odd_test_names(const SourceFile& file) {
  static const std::regex test(
      R"((?:^|\n)(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))");
  static const std::regex capitals("[A-Z][A-Za-z0-9]*");
  std::vector<std::string> odd;
  for (std::sregex_iterator at(file.text.begin(), file.text.end(), test), end;
       at != end;
       ++at)
    for (const std::string& name : {at->str(1), at->str(2)})
      if (!std::regex_match(name, capitals)) odd.push_back(name);
  return odd;
}

} // namespace temper::rules
