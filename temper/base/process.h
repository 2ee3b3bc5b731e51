// Runs another program under limits. The program may be missing, slow, noisy
// or hostile: it never outlives the time limit, its children do not either
// (it gets a process group of its own), and no more than the output limit is
// kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace temper {

struct ProcessLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t output_bytes = std::size_t{1} << 20;  // of each stream
};

struct ProcessResult {
  enum class End {
    exited,     // `code` is its exit code
    signalled,  // `code` is the signal
    timed_out,
    too_much_output,
    not_started,  // `error` says why
  };
  End end = End::not_started;
  int code = 0;
  std::string out;
  std::string err;
  std::string error;
};

// arguments[0] is the program, looked up in PATH. Standard input is `input`,
// then end of file.
ProcessResult run_process(
    const std::vector<std::string>& arguments,
    const std::string& input = "",
    ProcessLimits limits = {});

}  // namespace temper
