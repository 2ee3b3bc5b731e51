// The oldest macOS on which a torch offers MPS at all. Used for the LibTorch
// of this build and for the torch of a Python.
#pragma once

#include <optional>

#include "temper/base/text.h"

namespace temper::doctor {

// The oldest macOS on which that torch has MPS; no value when it knows no MPS.
std::optional<Version> mps_floor(const Version& torch);

} // namespace temper::doctor
