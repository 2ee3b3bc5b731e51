// Doctor's findings as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "temper/doctor/check.h"
#include "temper/machine/machine.h"

namespace temper::doctor {

struct TextStyle {
  bool colour = false;
  int width = 80; // columns
};

Verdict worst(const std::vector<Check>& checks);

// A table by group, advice under the rows that need it, and a closing line.
std::string to_text(const std::vector<Check>& checks, const TextStyle& style);

// {"schema": 1, "verdict": ..., "checks": [...], "machine": {...}}
std::string to_json(
    const std::vector<Check>& checks,
    const machine::Machine& machine);

} // namespace temper::doctor
