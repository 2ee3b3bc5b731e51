// The families of operators, one file each: a new operator is a row in one of
// them.
// Private to graph/op.
#pragma once

#include <string_view>
#include <vector>

#include "temper/graph/op/operator.h"

namespace temper::graph {

struct OperatorRow {
  // "conv2d" of LibTorch, "_operator.add" of another space.
  std::vector<std::string_view> names;
  Operator page;
};
using OperatorRows = std::vector<OperatorRow>;

const OperatorRows& activation_operators();
const OperatorRows& attention_operators();
const OperatorRows& convolution_operators();
const OperatorRows& copy_operators();
const OperatorRows& creation_operators();
const OperatorRows& elementwise_operators();
const OperatorRows& indexing_operators();
const OperatorRows& linear_algebra_operators();
const OperatorRows& loss_operators();
const OperatorRows& normalisation_operators();
const OperatorRows& number_operators();
const OperatorRows& part_operators();
const OperatorRows& pooling_operators();
const OperatorRows& random_operators();
const OperatorRows& recurrent_operators();
const OperatorRows& reduction_operators();
const OperatorRows& resize_operators();
const OperatorRows& view_operators();

std::vector<const OperatorRows*> operator_families();

} // namespace temper::graph
