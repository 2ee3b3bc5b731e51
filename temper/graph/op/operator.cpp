#include "temper/graph/op/operator.h"

#include <algorithm>
#include <functional>
#include <map>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/op/op_families.h"

namespace temper::graph {
namespace {

using PagesByName = std::map<std::string, const Operator*, std::less<>>;

constexpr std::string_view kLibTorch = "aten";

// By space, then by name. Families call LibTorch's operators by name alone.
const std::map<std::string, PagesByName, std::less<>>& pages() {
  static const auto all = [] {
    std::map<std::string, PagesByName, std::less<>> table;
    for (const OperatorRows* family : operator_families())
      for (const OperatorRow& row : *family)
        for (const std::string_view name : row.names) {
          const auto dot = name.find('.');
          const bool foreign = dot != std::string_view::npos;
          const auto space = foreign ? name.substr(0, dot) : kLibTorch;
          const auto own = foreign ? name.substr(dot + 1) : name;
          check(
              table[std::string(space)].emplace(own, &row.page).second,
              "an operator has one page");
        }
    return table;
  }();
  return all;
}

} // namespace

const Operator* find_operator(const OpName& name) {
  const auto space = pages().find(name.space);
  if (space == pages().end()) return nullptr;
  const auto page = space->second.find(name.name);
  return page == space->second.end() ? nullptr : page->second;
}

const Operator* find_operator(const Node& node) {
  return find_operator(op_name(node.op));
}

std::vector<std::string> operators_with_pages() {
  std::vector<std::string> names;
  for (const auto& [space, by_name] : pages())
    for (const auto& [name, page] : by_name)
      names.push_back(cat(space, ".", name));
  return names;
}

} // namespace temper::graph
