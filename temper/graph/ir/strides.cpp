#include "temper/graph/ir/strides.h"

#include <utility>

#include "temper/base/error.h"

namespace temper::graph {
namespace {

std::int64_t int_of(const Node& node, const char* name, std::int64_t missing) {
  const Argument* argument = node.find(name);
  return argument == nullptr ? missing : std::get<std::int64_t>(*argument);
}

std::size_t axis(std::int64_t dim, std::size_t count) {
  return static_cast<std::size_t>(
      dim < 0 ? dim + static_cast<std::int64_t>(count) : dim);
}

bool in_place(const std::string& op) {
  const std::size_t dot = op.rfind('.');
  return dot != std::string::npos && dot > 0 && op[dot - 1] == '_';
}

Ints without(Ints values, std::size_t index) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(index));
  return values;
}

// Attention leaves its result as its projections lay: heads side by side.
Ints heads_side_by_side(const Ints& made) {
  check(made.size() == 4, "attention has batch, heads, places and features");
  const std::int64_t row = made[1] * made[3];
  return {made[2] * row, made[3], row, 1};
}

} // namespace

Ints contiguous_strides(const Ints& sizes) {
  Ints strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Ints strides_made(
    const Node& node,
    const Ints& sizes,
    const Ints& strides,
    const Ints& made) {
  const std::string& op = node.op;
  if (in_place(op)) return strides;
  if (op == "aten.scaled_dot_product_attention.default")
    return heads_side_by_side(made);
  if (op == "aten.transpose.int") {
    Ints turned = strides;
    std::swap(
        turned[axis(int_of(node, "dim0", 0), sizes.size())],
        turned[axis(int_of(node, "dim1", 1), sizes.size())]);
    return turned;
  }
  if (op == "aten.permute.default") {
    Ints turned;
    for (const std::int64_t dim : std::get<Ints>(*node.find("dims")))
      turned.push_back(strides[axis(dim, sizes.size())]);
    return turned;
  }
  if (op == "aten.select.int" || op == "aten.unbind.int")
    return without(strides, axis(int_of(node, "dim", 0), sizes.size()));
  if (op == "aten.expand.default") {
    Ints wide = strides;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] == 1 && made[i] != 1) wide[i] = 0;
    return wide;
  }
  return contiguous_strides(made);
}

} // namespace temper::graph
