// The output of another program, read as it comes. The pipe is the only buffer:
// a program that is ahead waits. It has a process group of its own, which is
// killed when this goes. Used by the source `cmd:`.
// Private to data/source.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "temper/base/environment.h"
#include "temper/base/process/spawn.h"

namespace temper::data {

class ChildOutput {
 public:
  // Runs `command` by the shell, with `extra` in its environment. Error when
  // it cannot be started. Reading ends early once `interrupted` is true.
  ChildOutput(
      std::string command,
      const Environment& extra,
      double patience_s,
      const std::atomic<bool>& interrupted);
  ~ChildOutput();
  ChildOutput(const ChildOutput&) = delete;
  ChildOutput& operator=(const ChildOutput&) = delete;

  // Fills `to`, less at the end of the output. Error when nothing comes for
  // too long, or on interruption.
  std::size_t read(void* to, std::size_t bytes);
  // Called after the end of its output: Error when the program failed.
  void expect_success();
  // The error that ends the reading, with what the program said last.
  [[noreturn]] void refuse(const std::string& why);

 private:
  bool wait(); // for output; false when `patience_s` passed
  void drain_errors();

  std::string command_;
  double patience_s_;
  const std::atomic<bool>& interrupted_;
  Child child_;
  std::string said_; // the end of its standard error
};

} // namespace temper::data
