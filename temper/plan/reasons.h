// The plan's reasons: why it has each value, from measurements to sentences. A
// pure function of what was tried, for calibrate() and its tests.
#pragma once

#include "temper/plan/candidates.h"
#include "temper/plan/plan.h"

namespace temper::plan {

// Fills device, layout, kernels, threads and precision of `plan` with the
// values of `chosen` and a reason each; plan.tried and plan.ruled_out are
// there.
void explain(Plan& plan, const Setting& chosen, const Requests& asked);

// Reasons that tell a reader nothing new.
inline constexpr const char* kAsAsked = "as asked";
inline constexpr const char* kNoChoice = "nothing else to choose from";
// The beginning of a reason where nothing was measured.
inline constexpr const char* kDefault = "default; ";
inline constexpr const char* kLayoutOfKernels =
    "the one that temper's kernels compute in";
inline constexpr const char* kDefaultPrecision =
    "the default; precision = \"auto\" tries half precision too";

} // namespace temper::plan
