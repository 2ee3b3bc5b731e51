// What `temper --version` prints.
#pragma once

#include <string>

namespace temper::cli {

std::string version_text();

} // namespace temper::cli
