// Tensors as plain bytes: what weights files hold, before LibTorch sees them.
// Read by the .pt2 and safetensors readers, filled by the zoo, handed to the
// executor, written by the exporters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temper/graph/ir/dtype.h"

namespace temper::graph {

// Shares its bytes with its copies; they may lie in a mapped file. Always
// contiguous: a reader that meets strides lays the elements out in order.
struct TensorData {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::shared_ptr<const std::byte> bytes; // null when there are none
  std::size_t byte_count = 0; // elements * bytes_of(dtype)
};

// The product of the sizes; Error on overflow or a negative size.
std::int64_t element_count(const std::vector<std::int64_t>& sizes);

// Memory for such a tensor, all zero unless its maker writes all of it
// anyway. The writable pointer is for its maker.
struct NewTensor {
  TensorData data;
  std::byte* bytes = nullptr;
};
NewTensor make_tensor(
    DType dtype,
    const std::vector<std::int64_t>& sizes,
    bool zeroed = true);

// Tensors by real name: "features.0.0.weight".
using Weights = std::map<std::string, TensorData>;

} // namespace temper::graph
