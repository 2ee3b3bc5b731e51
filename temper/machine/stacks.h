// Where every thread of this process is, for the report of a hang. Each thread
// is interrupted by a signal (SIGURG, which nobody minds) and notes its own
// stack; one that does not answer within a second is named as such. May be
// called while other threads are stuck, holding whatever locks.
#pragma once

#include <string>
#include <vector>

namespace temper::machine {

struct ThreadStack {
  std::string name; // "412 temper, waiting in futex_wait"
  std::vector<std::string> frames; // innermost first; empty: no answer
};

// One caller at a time.
std::vector<ThreadStack> all_stacks();

std::string to_text(const std::vector<ThreadStack>& stacks);

} // namespace temper::machine
