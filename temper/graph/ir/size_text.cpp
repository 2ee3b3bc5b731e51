// Sizes as people read them: "s77*49" for Mul(Integer(49), Symbol('s77', ...)).
#include <regex>

#include "temper/base/text.h"
#include "temper/graph/ir/size.h"

namespace temper::graph {

std::string size_text(const Size& size) {
  if (size.fixed()) return cat(size.value);
  static const std::regex symbol(R"(Symbol\('([^']*)'[^)]*\))");
  static const std::regex integer(R"(Integer\((-?[0-9]+)\))");
  static const std::regex product(R"(^Mul\(([^(),]+), ([^(),]+)\)$)");
  static const std::regex sum(R"(^Add\(([^(),]+), ([^(),]+)\)$)");
  // Regular expressions recurse: a long text from a file is shown as it is.
  if (size.expression.size() > 500) return size.expression;
  std::string text = std::regex_replace(size.expression, symbol, "$1");
  text = std::regex_replace(text, integer, "$1");
  text = std::regex_replace(text, product, "$1*$2");
  return std::regex_replace(text, sum, "$1+$2");
}

} // namespace temper::graph
