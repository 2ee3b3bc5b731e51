#include "temper/model/fused/torch_threads.h"

#include <ATen/Parallel.h>

#include "temper/kernels/simd/threads.h"

namespace temper::model {

void use_torch_threads() {
  kernels::set_thread_count([] { return at::get_num_threads(); });
}

} // namespace temper::model
