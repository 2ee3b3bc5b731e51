// The process environment as a plain map, so that what depends on it can be
// tested with any other.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace temper {

using Environment = std::map<std::string, std::string>;

Environment current_environment();

// The variable's value, which may be ""; no value when it is not set.
std::optional<std::string> variable(
    const Environment& environment,
    const std::string& name);
// The same, with "" for a variable that is not set.
std::string variable_text(
    const Environment& environment,
    const std::string& name);

} // namespace temper
