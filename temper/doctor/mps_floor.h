// The oldest macOS on which a torch offers MPS at all. Used for the LibTorch
// of this build and for the torch of a Python.
#pragma once

#include <optional>

#include "temper/base/text.h"

namespace temper::doctor {

// Nothing when that torch knows no MPS.
std::optional<Version> mps_floor(const Version& torch);

} // namespace temper::doctor
