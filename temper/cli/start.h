// Prepares the process for LibTorch, as machine/startup.h decides, starting
// the program again once where a setting only counts at load time.
#pragma once

#include "temper/cli/command.h"
#include "temper/machine/machine.h"

namespace temper::cli {

void start(
    const Invocation& invocation,
    const machine::Machine& machine,
    bool inspect_only,
    bool measures = false);

} // namespace temper::cli
