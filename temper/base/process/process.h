// Runs another program under limits. The program may be missing, slow, noisy
// or hostile: it never outlives the time limit and no more than the output
// limit is kept. It gets a process group of its own, and whatever it leaves
// running in that group is killed when it ends.
//
// Safe to call from several threads. No signal handler or mask is changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace temper {

struct ProcessLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t output_bytes = std::size_t{1} << 20; // of each stream
};

struct ProcessResult {
  enum class End {
    exited, // `code` is its exit code
    signalled, // `code` is the signal
    timed_out,
    too_much_output,
    not_started, // `error` says why
  };
  End end = End::not_started;
  int code = 0;
  // The program's output until it ended, never more than the limit.
  std::string out;
  std::string err;
  std::string error;

  bool succeeded() const {
    return end == End::exited && code == 0;
  }
};

// arguments[0] is the program, looked up in PATH. Standard input is `input`,
// then end of file. The run is over when the program itself ends: what its
// background children would still have written is not waited for.
ProcessResult run_process(
    const std::vector<std::string>& arguments,
    const std::string& input = "",
    ProcessLimits limits = {});

// "exit code 3", "signal 11 (Segmentation fault)", "no end within 10.0 s".
std::string describe_end(
    const ProcessResult& result,
    const ProcessLimits& limits);

} // namespace temper
