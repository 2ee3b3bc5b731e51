// Losses of predictions beside their targets.
#include "temper/graph/op/op_rules.h"

namespace temper::graph {
namespace {

// reduction: 0 none, 1 mean, 2 sum.
void loss(NodeShapes& node) {
  const Shape& self = node.first_tensor();
  Ints sizes;
  if (node.integer("reduction", 1) == 0) sizes = self.sizes;
  node.give(self.dtype, sizes);
}

// One loss a sample, or a pixel: the channels go.
void class_loss(NodeShapes& node) {
  Shape shape = node.first_tensor();
  if (node.integer("reduction", 1) != 0)
    shape.sizes.clear();
  else if (!shape.sizes.empty())
    shape.sizes.erase(shape.sizes.begin() + (shape.sizes.size() > 1 ? 1 : 0));
  node.give(shape);
}

void save_log_loss(SavedContext& node) {
  node.keep_bytes(bytes_of(node.first_tensor()));
  node.keep("target");
}

void save_loss(SavedContext& node) {
  node.keep_input();
  node.keep("target");
}

} // namespace

const OperatorRows& loss_operators() {
  static const OperatorRows rows{
      {{"mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits"},
       computing(loss, save_loss)},
      {{"huber_loss", "kl_div"}, computing(loss)},
      {{"cross_entropy_loss"}, computing(class_loss, save_log_loss)},
      {{"nll_loss", "nll_loss_nd", "nll_loss2d"}, computing(class_loss)},
  };
  return rows;
}

} // namespace temper::graph
