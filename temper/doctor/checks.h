// The checks of `temper doctor`: each a small function of the evidence, in
// tables by group. A check that finds nothing returns no value.
#pragma once

#include <optional>
#include <vector>

#include "temper/doctor/check.h"
#include "temper/doctor/evidence.h"

namespace temper::doctor {

// All groups, in the order of the report. Python's are in python_checks.h.
std::vector<Check> run_checks(const Evidence& evidence);

using CheckFunction = std::optional<Check> (*)(const Evidence&);

// The groups, one file each.
std::vector<CheckFunction> machine_checks();
std::vector<CheckFunction> build_checks();
std::vector<CheckFunction> limit_checks();
std::vector<CheckFunction> storage_checks();
// One row a device, so not a table of single checks.
std::vector<Check> check_devices(const Evidence& evidence);

} // namespace temper::doctor
