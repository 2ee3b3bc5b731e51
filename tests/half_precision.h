// A test of bf16 is skipped where it cannot be shown: LibTorch asks the
// processor for AVX-512 and hands convolutions in bf16 to oneDNN, which refuses
// them when its own variable keeps it from AVX-512. No processor is like that;
// only variables that stand for another one are. Includes torch.
#pragma once

#include <ATen/ATen.h>

#include <cstdlib>
#include <exception>

namespace temper::tests {

constexpr const char* kNoBf16 =
    "ONEDNN_MAX_CPU_ISA keeps oneDNN from bf16, and LibTorch does not know.";

inline bool bf16_is_kept_from_onednn() {
  if (std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr) return false;
  const auto half = at::TensorOptions(at::kBFloat16);
  try {
    at::conv2d(at::ones({1, 16, 8, 8}, half), at::ones({16, 16, 3, 3}, half));
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

} // namespace temper::tests
