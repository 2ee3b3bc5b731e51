#include "temper/libtorch/facts.h"

#include <dlfcn.h>

#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/cuda.h>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/libtorch/torch/compat.h"

namespace temper::libtorch {
namespace {

// A backend is built in when it registered a way to make an empty tensor.
// LibTorch's own "has" functions also ask for a device, and so cannot tell a
// CPU-only build from a missing driver.
bool built_for(c10::DispatchKey key) {
  const auto empty =
      c10::Dispatcher::singleton().findSchema({"aten::empty", "memory_format"});
  return empty && empty->hasKernelForDispatchKey(key);
}

int default_threads() {
  static const int threads = at::get_num_threads();
  return threads;
}

} // namespace

bool linked() {
  return true;
}

Facts facts() {
  const BuildReport report = read_build_report(at::show_config());
  Facts facts;
  facts.present = true;
  facts.version = report.version;
  facts.built_with = header_version();
  facts.blas = report.blas;
  facts.lapack = report.lapack;
  facts.cpu_capability = report.cpu_capability;
  facts.onednn = report.onednn;
  facts.openmp = report.openmp;
  facts.default_threads = default_threads();
  facts.cuda_built = report.cuda || built_for(c10::DispatchKey::CUDA);
  facts.cuda_available = torch::cuda::is_available();
  if (facts.cuda_available)
    facts.cuda_devices = static_cast<int>(torch::cuda::device_count());
  facts.mps_built = built_for(c10::DispatchKey::MPS);
  facts.mps_available = at::hasMPS();
  return facts;
}

void set_threads(int intra_op, int inter_op) {
  default_threads();
  if (at::get_num_threads() != intra_op) at::set_num_threads(intra_op);
  static bool pool_asked = false;
  if (std::exchange(pool_asked, true)) return;
  try {
    at::set_num_interop_threads(inter_op);
  } catch (const c10::Error&) {
    // Allowed once, and only before LibTorch's pool has been used.
    log::detail(cat(
        "LibTorch keeps ", at::get_num_interop_threads(), " inter-op threads"));
  }
}

void set_threads_here(int intra_op) {
  default_threads();
  if (at::get_num_threads() == intra_op) return;
  // The OpenMP runtime is the one that LibTorch came with.
  static const auto set_openmp = reinterpret_cast<void (*)(int)>(
      ::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_openmp != nullptr) set_openmp(intra_op);
  if (at::get_num_threads() != intra_op) at::set_num_threads(intra_op);
}

} // namespace temper::libtorch
