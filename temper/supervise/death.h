// Why a trainer died, in a sentence, from what its supervisor saw of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/exit_codes.h"
#include "temper/journal/event.h"

namespace temper::supervise {

struct Death {
  int signal = 0; // 0: it exited
  int code = 0;
  std::int64_t update = -1; // under way; -1: not training yet
  std::string doing; // "computing the backward pass"
  std::vector<std::uint64_t> memory_bytes; // one a second, the newest last
  std::int64_t memory_kills = 0; // by the kernel, in our group, while it ran
  std::string kernel; // the kernel's own words
};

// "SIGSEGV"
std::string signal_name(int signal);

// "was killed (SIGKILL) in step 12 while waiting for data: ..."
std::string describe(const Death& death);

// `death`, for the journal.
journal::Event death_event(const Death& death);

} // namespace temper::supervise
