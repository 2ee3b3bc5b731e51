// Operators that give the values of their input once more, in another type or
// in another order, and those that fill a tensor.
#include "temper/graph/ir/strides.h"
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// to.dtype, to.device and to.other have their types in different places.
void convert(NodeShapes& node) {
  const Shape* other = node.find_tensor("other");
  const Shape& input = node.first_tensor();
  node.give(
      other != nullptr ? other->dtype : node.dtype().value_or(input.dtype),
      input.sizes);
}

std::optional<Ints> if_in_order(const NodeArguments&, const ViewOf& view) {
  if (!in_order(view.base.sizes, view.strides)) return std::nullopt;
  return view.strides;
}

std::optional<Ints> if_same_type(
    const NodeArguments& node,
    const ViewOf& view) {
  if (view.base.dtype != view.made.dtype || node.flag("copy", false))
    return std::nullopt;
  return view.strides;
}

// The page of an operator whose result has the values of its input.
Operator same_values(MemoryRule memory, int flops = 1) {
  return {
      .shape = like_first,
      .memory = memory,
      .gradient = Gradient::kHandedOn,
      .flops = flops,
      .dimensions = Dimensions::kKept};
}

Operator same_values_typed(MemoryRule memory, Gradient gradient) {
  return {
      .shape = convert,
      .memory = memory,
      .gradient = gradient,
      .dimensions = Dimensions::kKept,
      .mixes_types = true};
}

Operator rearranged(int flops = 1) {
  return {
      .shape = like_first,
      .memory = fresh,
      .gradient = Gradient::kComputed,
      .flops = flops};
}

} // namespace

const OperatorRows& copy_operators() {
  static const OperatorRows rows{
      {{"clone"}, on_any_threads(same_values(fresh, 0))},
      {{"contiguous"}, on_any_threads(same_values(if_in_order, 0))},
      {{"alias", "lift_fresh"}, on_any_threads(same_values(whole))},
      {{"lift_fresh_copy"}, on_any_threads(rearranged())},
      {{"positive", "real"},
       {.memory = whole, .gradient = Gradient::kHandedOn}},
      {{"detach"},
       {.shape = like_first,
        .memory = whole,
        .gradient = Gradient::kCut,
        .dimensions = Dimensions::kKept,
        .threads = Threads::kDoNotMatter}},
      {{"to"},
       on_any_threads(same_values_typed(if_same_type, Gradient::kHandedOn))},
      {{"type_as"},
       {.shape = convert,
        .memory = if_same_type,
        .gradient = Gradient::kHandedOn}},
      {{"_to_copy"},
       on_any_threads(same_values_typed(fresh, Gradient::kComputed))},
      {{"copy"},
       {.shape = like_first,
        .memory = fresh,
        .gradient = Gradient::kComputed,
        .mixes_types = true}},
      {{"fill", "zero", "requires_grad", "tril", "triu", "flip"}, rearranged()},
      {{"roll"}, rearranged(0)},
  };
  return rows;
}

} // namespace temper::graph
