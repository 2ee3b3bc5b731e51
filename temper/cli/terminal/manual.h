// Help texts, made from the command table, the manuals and the flags CLI11
// knows, so that none of them is written twice.
#pragma once

#include <string>

#include "temper/cli/terminal/command.h"

namespace temper::cli {

// One screen: what temper is, its commands, the global flags.
std::string overview(const CLI::App& global_flags, int width);

// The manual of one command.
std::string manual_text(
    const CommandEntry& entry,
    const Manual& manual,
    const CLI::App& command_flags,
    const CLI::App& global_flags,
    int width);

} // namespace temper::cli
