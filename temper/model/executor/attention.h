// Scaled dot-product attention as matmul, softmax, matmul: for LibTorch before
// 2.0, which has no operator for it. Includes torch: see module.h.
// Private to model/executor.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace temper::model {

struct AttentionByParts {
  double dropout = 0;
  bool is_causal = false;
  std::optional<double> scale; // none: 1 / sqrt of the last size
  bool grouped = false; // fewer heads of keys and values than of queries
};

// `mask` may be undefined; booleans say where to look, numbers are added.
at::Tensor attend(
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const at::Tensor& mask,
    const AttentionByParts& options);

} // namespace temper::model
