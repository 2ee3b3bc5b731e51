// From measurements to sentences: why the plan has each value. A pure function
// of what was tried, for calibrate() and its tests.
#pragma once

#include "temper/plan/candidates.h"
#include "temper/plan/plan.h"

namespace temper::plan {

// Fills device, layout, threads and precision of `plan` with the values of
// `chosen` and a reason each; plan.tried and plan.ruled_out are there.
void explain(Plan& plan, const Setting& chosen, const Requests& asked);

// "1.42x faster than contiguous (171 against 243 ms a step)"
std::string
faster_text(double step_s, double other_s, const std::string& other);

} // namespace temper::plan
