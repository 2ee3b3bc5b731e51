// The words of an Error, for the tests of messages.
#pragma once

#include <string>

#include "temper/base/error.h"

namespace temper::tests {

// The message and hint of the Error that `work` ends with; "" when it does not.
template <class Work>
std::string complaint(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "";
}

} // namespace temper::tests
