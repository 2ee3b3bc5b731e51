// What this LibTorch is and can do, as plain data. The seam to LibTorch: this
// header and its neighbours include no torch; facts.cpp asks the real library,
// absent.cpp answers for a build without one.
#pragma once

#include <string>
#include <vector>

namespace temper::libtorch {

struct Facts {
  bool present = false;
  std::string version; // of the library that is loaded, "1.13.1"
  std::string built_with; // of the headers temper was compiled against
  std::string blas; // "open", "mkl", "accelerate", ...; as the library says
  std::string lapack;
  bool onednn = false;
  bool openmp = false;
  std::string cpu_capability; // the vector level its kernels use, "AVX2"
  int default_threads = 0; // before temper sets any
  bool cuda_built = false;
  bool cuda_available = false;
  int cuda_devices = 0;
  bool mps_built = false;
  bool mps_available = false;
  std::string config; // LibTorch's own build report
};

Facts facts();

// What LibTorch's build report says about itself: "BLAS_INFO=open" and so on.
// A pure function of the text, so that it is tested with recorded reports.
struct BuildReport {
  std::string blas;
  std::string lapack;
  std::string cpu_capability;
  bool onednn = false;
  bool openmp = false;
  bool cuda = false;
};
BuildReport read_build_report(const std::string& config);

// Sets LibTorch's intra-op and inter-op thread counts.
void set_threads(int intra_op, int inter_op);

} // namespace temper::libtorch
