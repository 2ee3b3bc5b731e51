// How much of the processor is not ours: what other programs use, what the
// hypervisor gives to other guests, what a container's quota withholds. Read
// before and while settings are measured, by doctor, and while a run goes on.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "temper/machine/gauges.h"
#include "temper/machine/machine.h"

namespace temper::machine {

// The load over the time between two readings.
struct Load {
  double others = 0; // cores that other programs keep busy
  double stolen = 0; // cores that the hypervisor gave to other guests
  double throttled = 0; // share of the time a container's quota held us, 0..1
  double own = 0; // cores that this process keeps busy
  double cores = 1; // of the machine
  double usable = 1; // of those, by this process
  std::optional<double> average = {}; // load average of the last minute
  friend bool operator==(const Load&, const Load&) = default;

  // Cores of ours that somebody else had.
  double missing() const;
  // Measurements made now say little about a machine that is left alone.
  bool busy() const;
};

// No value where the rates or the cores are not known.
std::optional<Load> load_of(const Sample& sample, const Cpu& cpu);

// "other programs are using the processor (1.4 of 2 cores, load 12.0)"; for a
// machine that is not busy "0.1 of 2 cores are used by other programs".
std::string to_text(const Load& load);

// Each call reads the load since the call before; the first has none. Readings
// closer together than the system's clock ticks allow are put off: no value,
// and the time goes on counting.
std::function<std::optional<Load>()> watch_load(const Cpu& cpu);

} // namespace temper::machine
