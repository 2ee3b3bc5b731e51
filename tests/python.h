// The first Python of this machine that does what a test needs.
#pragma once

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/process/process.h"

namespace temper::tests {

// With time for a busy machine.
inline ProcessResult run_python(
    const std::vector<std::string>& arguments,
    const std::string& input = "") {
  ProcessLimits limits;
  limits.time = std::chrono::minutes(5);
  return run_process(arguments, input, limits);
}

// TEMPER_PYTHON says which to try first.
inline std::optional<std::string> python_that_runs(const std::string& code) {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* own = std::getenv("TEMPER_PYTHON"))
    candidates.insert(candidates.begin(), own);
  for (const std::string& python : candidates)
    if (run_python({python, "-c", code}).succeeded()) return python;
  return std::nullopt;
}

} // namespace temper::tests
