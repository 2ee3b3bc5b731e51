#include "temper/graph/op/op_families.h"

namespace temper::graph {

std::vector<const OperatorRows*> operator_families() {
  return {
      &activation_operators(),
      &attention_operators(),
      &convolution_operators(),
      &copy_operators(),
      &creation_operators(),
      &elementwise_operators(),
      &indexing_operators(),
      &linear_algebra_operators(),
      &loss_operators(),
      &normalisation_operators(),
      &number_operators(),
      &part_operators(),
      &pooling_operators(),
      &random_operators(),
      &recurrent_operators(),
      &reduction_operators(),
      &resize_operators(),
      &view_operators()};
}

} // namespace temper::graph
