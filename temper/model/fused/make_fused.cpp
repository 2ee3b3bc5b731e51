#include "temper/model/fused/make_fused.h"

#include <ATen/Parallel.h>

#include "temper/kernels/simd/threads.h"

namespace temper::model {
OpPointer make_fused(const graph::Fusion& /*fusion*/) {
  return nullptr;
}

void use_torch_threads() {
  static const bool set = [] {
    kernels::set_thread_runner(
        {[] { return at::get_num_threads(); },
         [](int workers, void (*body)(void*), void* context) {
           at::parallel_for(0, workers, 1, [&](std::int64_t, std::int64_t) {
             body(context);
           });
         }});
    return true;
  }();
  static_cast<void>(set);
}

} // namespace temper::model
