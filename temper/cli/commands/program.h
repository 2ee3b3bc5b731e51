// The command line from first argument to exit code.
#pragma once

#include <string>
#include <vector>

#include "temper/cli/terminal/command.h"

namespace temper::cli {

// `arguments` without the program's name. Throws Error; main turns that into
// a message and an exit code.
int run_program(const std::vector<std::string>& arguments, Console& console);

// The manual of a command, or the overview for "".
std::string help_for(const std::string& name, int width);

} // namespace temper::cli
