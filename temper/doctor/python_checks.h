// Judges a Python environment: is this interpreter, with these packages, on
// this machine, fit to train, and what to do if not. A pure function of plain
// data, so that any Mac can be judged on any machine.
#pragma once

#include <vector>

#include "temper/doctor/check.h"
#include "temper/doctor/python_report.h"
#include "temper/machine/machine.h"

namespace temper::doctor {

std::vector<Check> check_python(
    const PythonReport& report,
    const machine::Machine& machine);

} // namespace temper::doctor
