// The platform's half of Gauges: fills a Sample with what is read as it is and
// Counters with what becomes a rate. gauges_linux.cpp and gauges_macos.cpp each
// derive one and define open().
// Private to machine.
#pragma once

#include <memory>

#include "temper/machine/gauges.h"

namespace temper::machine {

struct Gauges::System {
  virtual ~System() = default;

  // `sample.time_s` is set already.
  virtual void read(Sample& sample, Counters& now) = 0;

  static std::unique_ptr<System> open();
};

} // namespace temper::machine
