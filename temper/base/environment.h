// The process environment as a plain map, so that what depends on it can be
// tested with any other.
#pragma once

#include <map>
#include <string>

namespace temper {

using Environment = std::map<std::string, std::string>;

Environment current_environment();

} // namespace temper
