#include <pthread.h>
#include <sched.h>

#include "temper/kernels/simd/helper_places.h"

namespace temper::kernels {

void HelperPlaces::add(std::thread& helper) {
  helpers_.push_back(helper.native_handle());
  left_ = -1;
}

void HelperPlaces::leave_core_to_caller() {
  const int core = ::sched_getcpu();
  if (core == left_ || core < 0) return;
  left_ = core;
  cpu_set_t others;
  if (::sched_getaffinity(0, sizeof others, &others) != 0) return;
  CPU_CLR(static_cast<std::size_t>(core), &others);
  if (CPU_COUNT(&others) == 0) return;
  for (const pthread_t helper : helpers_)
    ::pthread_setaffinity_np(helper, sizeof others, &others);
}

} // namespace temper::kernels
