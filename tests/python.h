// The first Python of this machine that does what a test needs.
#pragma once

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/process/process.h"

namespace temper::tests {

// TEMPER_PYTHON says which to try first.
inline std::optional<std::string> python_that_runs(const std::string& code) {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* own = std::getenv("TEMPER_PYTHON"))
    candidates.insert(candidates.begin(), own);
  for (const std::string& python : candidates) {
    ProcessLimits limits;
    limits.time = std::chrono::minutes(5);
    if (run_process({python, "-c", code}, "", limits).succeeded())
      return python;
  }
  return std::nullopt;
}

} // namespace temper::tests
