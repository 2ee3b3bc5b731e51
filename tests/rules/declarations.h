// The names that a file declares at the level of its namespaces. A reader of
// tokens, not of C++: it knows as much of the language as this tree uses.
#pragma once

#include <string>
#include <vector>

namespace temper::rules {

struct Declaration {
  std::string space; // "temper::data", without what is anonymous
  std::string name;
  std::string alias; // "using nlohmann :: json": the words of an alias
  bool is_private = false; // in an anonymous namespace, or static
  int line = 0;
};

// Types, variables, functions and aliases. No macros, operators, members
// defined outside their class, or forward declarations of types.
std::vector<Declaration> declarations(const std::string& text);

} // namespace temper::rules
