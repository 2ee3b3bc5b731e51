// Keeps the system from falling asleep while a run goes on; the display may.
// On a Mac that would otherwise idle into sleep. A closed lid still sleeps: the
// run then goes on when it is opened.
#pragma once

#include <cstdint>
#include <string>

namespace temper::machine {

class KeepAwake {
 public:
  // `why` is shown by `pmset -g assertions`.
  explicit KeepAwake(const std::string& why);
  ~KeepAwake();
  KeepAwake(const KeepAwake&) = delete;
  KeepAwake& operator=(const KeepAwake&) = delete;

  // Whether the system agreed. False on Linux, where nothing is asked: a
  // machine that trains there does not idle into sleep.
  bool held() const {
    return assertion_ != 0;
  }

 private:
  std::uint32_t assertion_ = 0;
};

} // namespace temper::machine
