// Where a running graph keeps its values: slots, numbered when the graph is
// prepared. A step reads some and fills others. Inside the executor, and for
// those who hand it kernels of their own. Includes torch: see module.h.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

namespace temper::model {

struct Frame {
  std::vector<at::Tensor> tensors;
  std::vector<at::Scalar> numbers;
};

inline const at::Tensor& at_slot(const Frame& frame, int slot) {
  return frame.tensors[static_cast<std::size_t>(slot)];
}
inline at::Tensor& at_slot(Frame& frame, int slot) {
  return frame.tensors[static_cast<std::size_t>(slot)];
}

// The slot that never holds a tensor: what an absent bias reads.
constexpr int kNoTensor = 0;

// One node with its arguments resolved.
using NodeCall = std::function<void(Frame&)>;

} // namespace temper::model
