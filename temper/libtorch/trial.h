// Does a device really compute? A virtual machine reports MPS and fails at
// the first allocation, so a device counts only after a trial: allocate,
// multiply, read back, compare.
#pragma once

#include <string>
#include <vector>

namespace temper::libtorch {

struct Trial {
  bool works = false;
  std::string why_not; // one line, in LibTorch's words
};

// `device` as LibTorch spells it: "cpu", "mps", "cuda:1".
Trial try_device(const std::string& device);

// Names of the CUDA devices this LibTorch sees, by index.
std::vector<std::string> cuda_names();

// GFLOP/s of a square float32 matrix product on the CPU, through LibTorch and
// so through its BLAS, with one thread. Takes about `seconds`.
double sgemm_gflops(int size, double seconds);

} // namespace temper::libtorch
