// Versions of Python packages that are known to fail, to be slow or to compute
// wrong numbers, as a table: which versions, beside which other package, on
// which machine, what happens and where it is written down.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "temper/base/text.h"
#include "temper/doctor/check.h"
#include "temper/doctor/python_report.h"
#include "temper/machine/machine.h"

namespace temper::doctor {

inline constexpr Version kNoEnd{std::numeric_limits<int>::max(), 0, 0};

// from <= version < below
struct Range {
  Version from{};
  Version below = kNoEnd;

  bool has(const Version& version) const {
    return from <= version && version < below;
  }
};

struct KnownBad {
  const char* name;
  const char* package;
  Range versions{};
  const char* beside = nullptr; // a package that must be there too; null: none
  Range beside_versions{};
  bool apple = false; // only on Apple Silicon
  Range macos{};
  // Anything else that must hold; null: no more.
  bool (*also)(const PythonReport&, const machine::Machine&) = nullptr;
  Verdict verdict = Verdict::note;
  const char* sentence; // after "torch 2.8.0: "
  const char* advice;
  const char* source;
};

const std::vector<KnownBad>& known_bad_table();

// The package's version; no value when it is not installed or its version
// cannot be read.
std::optional<Version> installed_version(
    const PythonReport& report,
    std::string_view package);

// The version as it is written, "2.6.0+cpu"; empty when it is not installed.
std::string version_text(const PythonReport& report, std::string_view package);

bool applies(
    const KnownBad& entry,
    const PythonReport& report,
    const machine::Machine& machine);

} // namespace temper::doctor
