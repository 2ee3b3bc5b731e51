// Starts a program with its three standard streams on pipes, and puts it away.
// The lower half of process.cpp, and of who reads a program's output as it
// comes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/base/file/descriptor.h"

namespace temper {

// We keep our own copy of the read end of the child's standard input while it
// runs: a write then never finds the pipe without readers, and SIGPIPE cannot
// arise.
struct Child {
  pid_t pid = -1; // also the id of its process group
  Pipe in;
  Descriptor out;
  Descriptor err;
};

// Starts a program. Our ends never block. No value, with `error` set, when the
// program could not be started. Its environment is ours, with `extra` added or
// in place.
std::optional<Child> start_child(
    const std::vector<std::string>& arguments,
    std::string& error,
    const Environment& extra = {});

// True once the child has ended. It is not reaped: its id, which is also the
// id of its group, stays taken until the group has been killed.
bool has_ended(pid_t pid);

// Kills what is left of the group and collects the child's exit status; no
// value when it does not die within two seconds or another reaped it.
std::optional<int> put_away(pid_t pid);

} // namespace temper
