#include "temper/graph/ir/op_name.h"

namespace temper::graph {

OpName op_name(std::string_view op) {
  OpName parts;
  const auto space_end = op.find('.');
  if (space_end == std::string_view::npos) {
    parts.name = op;
    return parts;
  }
  parts.space = op.substr(0, space_end);
  op.remove_prefix(space_end + 1);
  const auto name_end = op.find('.');
  parts.name = op.substr(0, name_end);
  if (name_end != std::string_view::npos)
    parts.overload = op.substr(name_end + 1);
  // "__and__" is a name, "relu_" an operator in place.
  const auto length = parts.name.size();
  if (length > 1 && parts.name[length - 1] == '_' &&
      parts.name[length - 2] != '_') {
    parts.name.remove_suffix(1);
    parts.in_place = true;
  }
  return parts;
}

} // namespace temper::graph
