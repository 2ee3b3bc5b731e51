// The emulator the tests run under, which is empty but for `make test-arm64`.
// What is about the kernel rather than about our code is left to the native
// tests: qemu's user mode cannot limit the address space, and says of a program
// that is not there that it started and ended with 127.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "temper/base/text.h"
#include "tests/leash.h"

namespace temper::tests {

inline constexpr std::string_view kEmulator = TEMPER_EMULATOR;

inline bool emulated() {
  return !kEmulator.empty();
}

// The words before a program of ours on the command line.
inline std::vector<std::string> before_program() {
  std::vector<std::string> words = leash();
  if (emulated())
    for (const auto& word : split(kEmulator, '|'))
      words.push_back(word);
  return words;
}

} // namespace temper::tests
