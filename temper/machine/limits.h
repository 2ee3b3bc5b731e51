// The limits the system puts on this process, and the one temper raises: the
// number of open files, whose default on macOS (256) is too low for training.
#pragma once

#include <cstdint>
#include <optional>

#include "temper/machine/machine.h"

namespace temper::machine {

OpenFiles open_files();

// RLIMIT_AS in bytes; no value when unlimited.
std::optional<std::uint64_t> address_space_limit();

struct RaisedOpenFiles {
  OpenFiles before;
  OpenFiles after;
};

// Raises the soft limit to `target` or the hard limit, whichever is less;
// never lowers it. 10240 is macOS's OPEN_MAX: it refuses more.
RaisedOpenFiles raise_open_files(std::uint64_t target = 10240);

} // namespace temper::machine
