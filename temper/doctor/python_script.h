// The Python program that doctor feeds to the user's interpreter. Python 3.6
// is enough for it. Its argument says which part to run:
//
//   packages  what is installed, without importing any of it
//   torch     imports torch and tries its devices; may crash or hang, which is
//             why it runs in a process of its own
//
// It prints JSON objects, each between two marker lines, as packages print
// what they like. The torch part prints one before each step, so that a crash
// still leaves what was known; the last one counts.
#pragma once

#include <string_view>

namespace temper::doctor {

// Not in the script as such: a program that merely echoes it reports nothing.
inline constexpr std::string_view kReportBegin = "<<<temper python report";
inline constexpr std::string_view kReportEnd = "temper python report>>>";

extern const char* const kPythonScript;

} // namespace temper::doctor
