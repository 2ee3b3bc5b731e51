#include "temper/kernels/simd/helper_places.h"

namespace temper::kernels {

void HelperPlaces::add(std::thread& helper) {
  helpers_.push_back(helper.native_handle());
}

void HelperPlaces::leave_core_to_caller() {
  left_ = -1;
}

} // namespace temper::kernels
