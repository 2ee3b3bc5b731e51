// How fast one core multiplies and adds at its best vector width: the ceiling
// that measured kernels and BLAS libraries are held against.
#pragma once

#include <string>

namespace temper::kernels {

struct FmaPeak {
  double gflops = 0; // float32, one thread
  std::string target; // the vector unit used, in Highway's words: "AVX3"
};

// Takes about `seconds`. A shared machine only ever makes it look slower, so
// the best of several short runs counts.
FmaPeak fma_peak(double seconds);

} // namespace temper::kernels
