#include "temper/libtorch/out_of_memory.h"

#include <new>

#include "temper/libtorch/messages.h"

namespace temper::libtorch {

bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      trouble_of(error.what()) == Trouble::memory;
}

} // namespace temper::libtorch
