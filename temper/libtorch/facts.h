// The facts about this LibTorch, what it is and can do, as plain data. The seam
// to LibTorch: this header and its neighbours include no torch; facts.cpp asks
// the real library, absent.cpp answers for a build without one.
#pragma once

#include <string>

namespace temper::libtorch {

struct Facts {
  bool present = false;
  std::string version; // of the library that is loaded, "1.13.1"
  std::string built_with; // of the headers temper was compiled against
  std::string blas; // as its build report has it: "open", "mkl", "generic"
  std::string lapack;
  std::string cpu_capability; // the vector level its kernels use, "AVX2"
  bool onednn = false;
  bool openmp = false;
  int default_threads = 0; // before temper sets any
  bool cuda_built = false;
  bool cuda_available = false;
  int cuda_devices = 0;
  bool mps_built = false;
  bool mps_available = false;
};

// Is LibTorch a part of this program? Asks nothing of it, unlike facts().
bool linked();

// Cheap after the first call. LibTorch's default thread count is the one it
// had at the first call or at the first set_threads(), whichever came before.
// Asks nothing of the MPS allocator: that reads its watermarks when it is first
// used, and start-up, which sets them, needs these facts first.
Facts facts();

void set_threads(int intra_op, int inter_op);

// Operators that the calling thread runs from now on use so many threads, with
// nothing started for it. For measuring: set_threads() makes LibTorch start the
// pool of its mobile operators anew, whose threads then spin for tens of
// milliseconds on the cores that are measured.
void set_threads_here(int intra_op);

// The parts of LibTorch's build report. A pure function of the text, tested
// with recorded reports.
struct BuildReport {
  std::string version;
  std::string blas;
  std::string lapack;
  std::string cpu_capability;
  bool onednn = false;
  bool openmp = false;
  bool cuda = false;
};
BuildReport read_build_report(const std::string& config);

} // namespace temper::libtorch
