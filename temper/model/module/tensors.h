// Tensors as bytes and as LibTorch has them. Used by the executor, by weights
// in and out, and by tests. Includes torch: see module.h.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "temper/graph/ir/dtype.h"
#include "temper/graph/ir/weights.h"

namespace temper::model {

at::ScalarType scalar_type_of(graph::DType type);
// Error for a type that files cannot hold (complex, quantised).
graph::DType dtype_of(at::ScalarType type);

// A tensor of its own on the CPU; the bytes are copied. Error when they are not
// as many as type and sizes say.
at::Tensor tensor_of(const graph::TensorData& data);
// The elements in order, copied from whatever device they are on.
graph::TensorData data_of(const at::Tensor& tensor);

// "float32 [16, 3, 32, 32]", as messages have it.
std::string tensor_text(const at::Tensor& tensor);
std::string sizes_text(at::IntArrayRef sizes);

} // namespace temper::model
