// The way to LibTorch. The command opens without it, because loading it takes
// half a second. A command that needs it says so (need_libtorch), and goes on
// as the full program: the same command with LibTorch, in libexec. There,
// start() prepares the process as machine/startup.h decides.
#pragma once

#include <filesystem>

#include "temper/cli/terminal/command.h"
#include "temper/machine/machine.h"

namespace temper::cli {

// The program that has LibTorch; this one in a build without LibTorch. Error
// when it is missing.
std::filesystem::path full_program();

// From here on the command needs LibTorch. The process becomes the full
// program, which runs the command from its beginning; in the full program, and
// in a build without LibTorch, nothing happens. So it comes after what may be
// wrong with flags and configs, and before anything is printed or written.
// `computes` as in machine::LoadingRequest.
void need_libtorch(const Invocation& invocation, bool computes = false);

void start(const machine::Machine& machine, bool inspect_only = false);

} // namespace temper::cli
