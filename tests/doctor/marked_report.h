// A report between its marks, as the script that Python runs prints it.
#pragma once

#include <string>

#include "temper/base/text.h"
#include "temper/doctor/python_script.h"

namespace temper::doctor {

inline std::string marked(const std::string& json) {
  return cat("\n", kReportBegin, "\n", json, "\n", kReportEnd, "\n");
}

} // namespace temper::doctor
