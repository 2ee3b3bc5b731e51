// Functions between layers that a kernel can apply while a value is in a
// register.
#pragma once

namespace temper::kernels {

enum class Activation {
  kNone,
  kRelu,
  kRelu6,
  kHardswish,
  kSilu,
  kGelu,
  kGeluTanh
};

} // namespace temper::kernels
