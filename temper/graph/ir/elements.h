// Floating-point tensors element by element, as double: for the few passes
// that compute weights. Nothing here is fast.
#pragma once

#include <vector>

#include "temper/graph/ir/weights.h"

namespace temper::graph {

// Error when the tensor is not floating-point.
std::vector<double> elements_of(const TensorData& tensor);

// Rounded to the nearest of that type; as many values as the sizes say.
TensorData tensor_of(
    DType dtype,
    const std::vector<std::int64_t>& sizes,
    const std::vector<double>& values);

} // namespace temper::graph
