// The text of `temper --version`: what it was built from. Which LibTorch is
// loaded is for `temper doctor` to say.
#pragma once

#include <string>

namespace temper::cli {

std::string version_text();
// "0.1.0" and the commit, for a run's journal.
std::string version_line();

} // namespace temper::cli
