// Does a device really compute, and how fast is the CPU's matrix product? A
// virtual machine reports MPS and fails at the first allocation, so a device
// counts only after a trial: allocate, multiply, read back, compare.
#pragma once

#include <string>

namespace temper::libtorch {

struct DeviceTrial {
  bool works = false;
  std::string why_not; // one line, in LibTorch's words
};

// `device` as LibTorch spells it: "cpu", "mps", "cuda:1".
DeviceTrial try_device(const std::string& device);

// GFLOP/s of a square float32 matrix product on the CPU, through LibTorch and
// so through its BLAS, on one thread; the best of what `seconds` allow.
double sgemm_gflops(int size, double seconds);

} // namespace temper::libtorch
