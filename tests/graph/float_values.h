// The numbers of a float32 tensor.
#pragma once

#include <cstring>
#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

inline std::vector<float> floats(const TensorData& tensor) {
  std::vector<float> values(tensor.byte_count / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.get(), tensor.byte_count);
  return values;
}

} // namespace temper::graph
