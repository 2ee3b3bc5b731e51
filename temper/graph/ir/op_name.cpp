#include "temper/graph/ir/op_name.h"

#include <algorithm>
#include <iterator>

namespace temper::graph {
namespace {

// "__iand__" writes, "__and__" and "__is__" do not.
bool is_augmented(std::string_view name) {
  constexpr std::string_view kAugmented[] = {
      "__iand__",
      "__ior__",
      "__ixor__",
      "__ilshift__",
      "__irshift__",
      "__iadd__",
      "__isub__",
      "__imul__",
      "__idiv__"};
  return std::ranges::find(kAugmented, name) != std::end(kAugmented);
}

// In Python's own module an underscore only tells and_ from the keyword.
bool ends_in_place(const OpName& op) {
  return op.space != "_operator" && op.name.size() > 1 &&
      op.name.ends_with('_') && !op.name.ends_with("__");
}

} // namespace

OpName op_name(std::string_view op) {
  OpName parts;
  const auto space_end = op.find('.');
  if (space_end == std::string_view::npos) {
    parts.name = parts.spelled = op;
    return parts;
  }
  parts.space = op.substr(0, space_end);
  op.remove_prefix(space_end + 1);
  const auto name_end = op.find('.');
  parts.name = parts.spelled = op.substr(0, name_end);
  if (name_end != std::string_view::npos)
    parts.overload = op.substr(name_end + 1);
  parts.in_place = is_augmented(parts.name) || ends_in_place(parts);
  if (ends_in_place(parts)) parts.name.remove_suffix(1);
  return parts;
}

} // namespace temper::graph
