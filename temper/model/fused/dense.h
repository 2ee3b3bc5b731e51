// Questions that the ops of sequences ask about tensors.
// Private to model/fused.
#pragma once

#include <ATen/ATen.h>

namespace temper::model {

// Numbers that kernels read as they lie: float32 in this machine's memory.
inline bool plain_float(const at::Tensor& t) {
  return t.defined() && t.device().is_cpu() && t.layout() == at::kStrided &&
      t.scalar_type() == at::kFloat && t.numel() > 0 && !t.is_neg();
}

inline bool plain_float_of(const at::Tensor& t, at::IntArrayRef sizes) {
  return plain_float(t) && t.sizes() == sizes;
}

inline bool absent_or_plain_of(const at::Tensor& t, at::IntArrayRef sizes) {
  return !t.defined() || plain_float_of(t, sizes);
}

// [rows, last], each row dense; a view where the strides allow it.
inline at::Tensor rows_of_last(const at::Tensor& t) {
  const at::Tensor rows = t.reshape({-1, t.size(-1)});
  return rows.size(1) == 1 || rows.stride(1) == 1 ? rows : rows.contiguous();
}

inline const float* floats_in(const at::Tensor& t) {
  return t.defined() ? t.data_ptr<float>() : nullptr;
}

inline float* floats_to(const at::Tensor& t) {
  return t.defined() ? t.data_ptr<float>() : nullptr;
}

inline at::Tensor dense(const at::Tensor& t) {
  return t.defined() ? t.contiguous() : t;
}

} // namespace temper::model
