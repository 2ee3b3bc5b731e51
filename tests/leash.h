// A program that a test has started ends with the test, also when the test is
// killed from outside and cleans up nothing. On Linux alone: elsewhere no
// process is told that its parent died.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace temper::tests {

// The words before the program. SIGTERM lets a supervisor stop its trainer.
inline std::vector<std::string> leash() {
  const std::string setpriv = "/usr/bin/setpriv";
  if (!std::filesystem::exists(setpriv)) return {};
  return {setpriv, "--pdeathsig", "TERM"};
}

} // namespace temper::tests
