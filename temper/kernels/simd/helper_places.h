// Which cores helpers of a call may run on: any but the caller's, where they
// could not help. Linux wakes a thread beside whoever woke it when cores share
// no cache, as those of virtual machines, and takes tens of milliseconds to
// notice that a core is idle. macOS has no such call, and spreads threads by
// itself.
// Private to kernels/simd.
#pragma once

#include <thread>
#include <vector>

namespace temper::kernels {

class HelperPlaces {
 public:
  void add(std::thread& helper);

  // Called by the caller, on its core.
  void leave_core_to_caller();

 private:
  std::vector<std::thread::native_handle_type> helpers_;
  int left_ = -1; // the core that helpers stay off
};

} // namespace temper::kernels
