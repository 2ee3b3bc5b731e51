// How busy the machine is, every few seconds, under the names and units of
// MLflow's system metrics (megabytes are 1e6 bytes). What MLflow has no name
// for (pressure, swap, heat, this process) follows in the same spirit. Used by
// the run, which journals it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "temper/machine/gauges.h"
#include "temper/machine/machine.h"

namespace temper::machine {

using SystemReading = std::vector<std::pair<std::string, double>>;

// The network's bytes, which add up while the watch lives.
struct Traffic {
  double received_bytes = 0;
  double transmitted_bytes = 0;
};

// A pure function; what could not be read is left out.
SystemReading system_reading(
    const Sample& sample,
    const Disk& disk,
    std::uint64_t physical_bytes,
    const Traffic& traffic);

class SystemWatch {
 public:
  // `every_s` of 0 or below: never.
  SystemWatch(double every_s, std::uint64_t physical_bytes);

  // A reading when it is time again, else no value. Costs a look at the clock.
  std::optional<SystemReading> due();

 private:
  double every_s_;
  std::uint64_t physical_bytes_;
  double next_s_ = 0;
  double last_s_ = 0;
  Gauges gauges_;
  Traffic traffic_;
};

} // namespace temper::machine
