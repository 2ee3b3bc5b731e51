// The one way to start a program: in any surroundings (spawn), or with its
// three standard streams on pipes (start_child). The lower half of process.cpp,
// of those that read a program's output as it comes, and of the supervisor.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/base/file/descriptor.h"

namespace temper {

// A program and what it finds when it starts.
struct ProgramStart {
  std::vector<std::string> arguments; // the first is the name it is called by
  std::string program; // its path; empty: that name, looked up in PATH
  Environment extra; // added to our environment, or in place
  // Descriptors that become its standard streams; -1: ours, as they are.
  int in = -1;
  int out = -1;
  int err = -1;
  bool own_group = false; // a process group of its own, with its id
  bool default_signals = false; // none is ignored that we ignore
  // The signals that are blocked in it; no value: those blocked in us.
  std::optional<std::vector<int>> blocked;
};

// No value, with `error` set, if the program could not be started. The caller
// waits for it.
std::optional<pid_t> spawn(const ProgramStart& start, std::string& error);

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
