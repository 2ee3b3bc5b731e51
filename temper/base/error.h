// Errors a user can read. An Error ends the run: `what` says what went wrong
// and why, `hint` what to do about it. Messages open with the room they come
// from: "[machine] no GPU found: ...". The command catches it once, in main.
// check() is for our own bugs and throws Bug.
#pragma once

#include <stdexcept>
#include <string>

namespace temper {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, std::string hint = "");

  // The advice on how to go on, in one sentence; empty when there is none.
  const std::string& hint() const noexcept {
    return hint_;
  }

 private:
  std::string hint_;
};

// A broken invariant of temper itself.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// The builtins stand in for std::source_location, which clang 14 lacks.
void check(
    bool holds,
    const char* invariant,
    const char* file = __builtin_FILE(),
    int line = __builtin_LINE());

} // namespace temper
