#include "temper/libtorch/torch/compat.h"

#include <torch/version.h>

#include "temper/base/text.h"

namespace temper::libtorch {

std::string header_version() {
  return cat(
      TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".", TORCH_VERSION_PATCH);
}

} // namespace temper::libtorch
