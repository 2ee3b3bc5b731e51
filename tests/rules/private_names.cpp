#include "private_names.h"

#include <map>
#include <set>
#include <utility>

#include "declarations.h"
#include "temper/base/text.h"

namespace temper::rules {
namespace {

struct Use {
  std::string path;
  Declaration declaration;
  bool is_of_base = false; // and this is another room
};

// Uses by room, namespace and name, in the order of the files.
using Uses = std::map<std::string, std::vector<Use>>;

bool is_header(const std::string& path) {
  return path.ends_with(".h");
}

// Found by the type of its argument, so that each type may have one.
bool is_customisation(const std::string& name) {
  return name == "PrintTo";
}

// One system's files are never compiled with the other's.
bool are_apart(const std::string& a, const std::string& b) {
  const auto linux = [](const auto& path) {
    return path.ends_with("_linux.cpp");
  };
  const auto macos = [](const auto& path) {
    return path.ends_with("_macos.cpp");
  };
  return (linux(a) && macos(b)) || (macos(a) && linux(b));
}

bool clash(const Use& a, const Use& b) {
  if (a.path == b.path || are_apart(a.path, b.path)) return false;
  if (!a.declaration.is_private && !b.declaration.is_private && !b.is_of_base)
    return false;
  return a.declaration.alias.empty() ||
      a.declaration.alias != b.declaration.alias;
}

Uses uses_in(const std::vector<SourceFile>& files) {
  Uses uses;
  // What base declares, all rooms use by its bare name.
  std::map<std::string, Use> of_base;
  for (const SourceFile& file : files)
    if (file.path.starts_with("base/") && is_header(file.path))
      for (Declaration& found : declarations(file.text))
        if (found.space == "temper")
          of_base.emplace(found.name, Use{file.path, found, true});
  for (const SourceFile& file : files) {
    const std::string room = file.path.substr(0, file.path.find('/'));
    for (Declaration& found : declarations(file.text)) {
      if (!found.is_private && !is_header(file.path)) continue;
      if (is_customisation(found.name)) continue;
      auto& own = uses[cat(room, " ", found.space, " ", found.name)];
      const auto same = of_base.find(found.name);
      if (own.empty() && room != "base" && same != of_base.end())
        own.push_back(same->second);
      own.push_back({file.path, std::move(found)});
    }
  }
  return uses;
}

} // namespace

std::vector<std::string> names_used_twice(
    const std::vector<SourceFile>& files) {
  std::vector<std::string> broken;
  std::set<std::pair<std::string, std::string>> said;
  for (const auto& [key, uses] : uses_in(files))
    for (const Use& own : uses)
      for (const Use& other : uses) {
        if (own.is_of_base || !clash(own, other)) continue;
        if (!own.declaration.is_private && !other.is_of_base) continue;
        if (!said.emplace(own.path, key).second) break;
        broken.push_back(
            cat(own.path,
                ":",
                own.declaration.line,
                ": ",
                own.declaration.name,
                is_header(other.path) ? " is also declared in "
                                      : " is also a private name of ",
                other.path,
                ", and files of a room are compiled as one: say in the name "
                "what sets it apart, or give both one home in a header"));
        break;
      }
  return broken;
}

} // namespace temper::rules
