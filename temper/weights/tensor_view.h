// Tensors over bytes that lie in a file: shared where they are usable as they
// lie, copied where they are unaligned or strided. Used by the readers of
// safetensors and .pth files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "temper/graph/ir/weights.h"

namespace temper::weights {

// `bytes` must be as many as the tensor needs. Error when a bool is neither
// true nor false, which nobody may read; `file` and `name` are for it.
graph::TensorData tensor_over(
    graph::DType dtype,
    const std::vector<std::int64_t>& sizes,
    std::span<const std::uint8_t> bytes,
    const std::shared_ptr<const void>& owner,
    const std::string& file,
    const std::string& name);

// Elements of a storage, in elements. All at least 0.
struct StridedPlace {
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

// Whether each element lies within `elements`, and there are not more of them
// than that: a stride of zero must not make memory out of nothing.
bool fits(const StridedPlace& place, std::int64_t elements);
// Whether the elements lie in order, without gaps.
bool is_contiguous(const StridedPlace& place);
// The elements of a place in order. The place must fit.
graph::TensorData gathered(
    graph::DType dtype,
    const StridedPlace& place,
    std::span<const std::uint8_t> storage);

} // namespace temper::weights
