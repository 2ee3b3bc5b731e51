// The sizes of a convolution. Tensors are channels-last: x is
// [batch, in_height, in_width, in_channels], y and its gradient
// [batch, out_height, out_width, out_channels], weights and their gradient
// [out_channels, kernel_height, kernel_width, in_channels]; float32, without
// gaps. No groups, no dilation.
#pragma once

#include <cstdint>

namespace temper::kernels {

struct ConvShape {
  std::int64_t batch = 1;
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride_height = 1;
  std::int64_t stride_width = 1;
  std::int64_t pad_height = 0;
  std::int64_t pad_width = 0;

  std::int64_t out_height() const {
    return (in_height + 2 * pad_height - kernel_height) / stride_height + 1;
  }
  std::int64_t out_width() const {
    return (in_width + 2 * pad_width - kernel_width) / stride_width + 1;
  }
};

} // namespace temper::kernels
