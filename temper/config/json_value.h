// A value of a config.toml as JSON: for those who read runs with a program.
#pragma once

#include <string>

namespace temper::config {

// "64" -> 64, "\"none\"" -> "none", "[1, 2.5]" -> [1, 2.5], {a = "b"} -> an
// object. JSON has no word for infinity and no dates: those stay text, like
// everything that is not TOML.
std::string json_of_toml(const std::string& value);

} // namespace temper::config
