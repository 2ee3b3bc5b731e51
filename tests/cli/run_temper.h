// The command as a user runs it: a process, its output, its exit code.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "temper/base/process/process.h"
#include "tests/emulator.h"

namespace temper::tests {

// A start table as if the terminal had no end: prose is wrapped there, and
// paths are as long as they are.
inline std::string unwrapped(std::string text) {
  constexpr std::string_view kWrap = "\n            ";
  for (auto at = text.find(kWrap); at != std::string::npos;
       at = text.find(kWrap, at))
    text.replace(at, kWrap.size(), " ");
  return text;
}

// Runs `line` (env, sh ...), then temper with these arguments. Without its
// supervisor; those who want one ask for it.
inline ProcessResult run_temper(
    std::vector<std::string> line,
    const std::vector<std::string>& arguments) {
  line.insert(line.begin(), {"env", "TEMPER_SUPERVISE=0"});
  for (const auto& word : before_program())
    line.push_back(word);
  line.emplace_back(TEMPER_PROGRAM);
  line.insert(line.end(), arguments.begin(), arguments.end());
  const auto held = leash(); // a shell among the words, too
  line.insert(line.begin(), held.begin(), held.end());
  ProcessLimits limits;
  limits.time = std::chrono::seconds(120);
  const auto result = run_process(line, "", limits);
  EXPECT_EQ(result.end, ProcessResult::End::exited) << result.err;
  return result;
}

} // namespace temper::tests
