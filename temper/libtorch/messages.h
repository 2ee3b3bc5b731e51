// LibTorch's messages, and what they mean. Its exceptions carry little but
// their text, so that is looked at; the words are those of 1.13 to 2.14. Needs
// no torch.
#pragma once

#include <string>

namespace temper::libtorch {

// LibTorch's messages have several lines, of which the first says it. Without
// the full stop.
std::string first_line(const std::string& message);

enum class Trouble {
  memory, // there is not enough of it
  devices, // tensors of two devices in one operator
  types, // tensors of two types, or of one that the device lacks
  nondeterministic, // refused because deterministic = true
  one_value, // BatchNorm in training saw one value a channel
  other,
};

Trouble trouble_of(const std::string& message);

} // namespace temper::libtorch
