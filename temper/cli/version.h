// What `temper --version` prints.
#pragma once

#include <string>

namespace temper::cli {

std::string version_text();
// "0.1.0" and the commit, for a run's journal.
std::string version_line();

} // namespace temper::cli
