#include "temper/libtorch/messages.h"

#include <array>

#include "temper/base/text.h"

namespace temper::libtorch {
namespace {

struct Sign {
  const char* words;
  Trouble trouble;
};

constexpr std::array kSigns{
    Sign{"out of memory", Trouble::memory},
    Sign{"not enough memory", Trouble::memory},
    Sign{"allocate memory", Trouble::memory},
    Sign{"Invalid buffer size", Trouble::memory},
    Sign{"STATUS_ALLOC_FAILED", Trouble::memory},
    Sign{"Insufficient Memory", Trouble::memory},
    Sign{
        "does not have a deterministic implementation",
        Trouble::nondeterministic},
    Sign{"more than 1 value per channel", Trouble::one_value},
    Sign{"on the same device", Trouble::devices},
    Sign{"Placeholder storage has not been allocated", Trouble::devices},
    Sign{"Passed CPU tensor to MPS op", Trouble::devices},
    Sign{"float64", Trouble::types},
    Sign{"scalar type", Trouble::types},
    Sign{"same dtype", Trouble::types},
    Sign{"Found dtype", Trouble::types},
    Sign{"Input type (", Trouble::types},
    Sign{"result type", Trouble::types},
    Sign{"of dtype", Trouble::types},
    Sign{"dtype to be", Trouble::types},
    Sign{"not implemented for '", Trouble::types},
};

} // namespace

std::string first_line(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  while (!line.empty() && (line.back() == '.' || line.back() == ' '))
    line.pop_back();
  return line;
}

Trouble trouble_of(const std::string& message) {
  for (const auto& [words, trouble] : kSigns)
    if (contains(message, words)) return trouble;
  return Trouble::other;
}

} // namespace temper::libtorch
