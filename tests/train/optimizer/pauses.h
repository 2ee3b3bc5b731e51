// The pauses of retry_update.h, left out: where memory stays short for good,
// waiting for it costs a second a point and changes nothing.
#pragma once

namespace temper::tests {

// While one lives, sleeping takes no time in this program.
class NoPauses {
 public:
  NoPauses();
  ~NoPauses();
  NoPauses(const NoPauses&) = delete;
  NoPauses& operator=(const NoPauses&) = delete;
};

} // namespace temper::tests
