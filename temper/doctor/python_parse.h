// Reads what the Python script printed. The text comes from a program that may
// be anything, so every field is checked, cut to a sane length and stripped of
// control characters; the first thing wrong is the error, and nothing throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "temper/doctor/python_report.h"

namespace temper::doctor {

// The JSON text between the last complete pair of marker lines.
std::optional<std::string_view> last_marked_report(std::string_view output);

// Each fills the report from the text and returns what is wrong with it; empty
// when nothing is.
std::string parse_packages(std::string_view json, PythonReport& report);
std::string parse_torch(std::string_view json, PythonTorch& torch);

// One printable line of at most `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 1000);

} // namespace temper::doctor
