// The readings that change on a Mac while a run goes on, made from what
// MacSource reads. Used by gauges_macos.cpp; pure logic, built and tested on
// every platform.
// Private to machine/mac.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "temper/machine/gauges.h"
#include "temper/machine/mac/mac_source.h"

namespace temper::machine {

// kern.memorystatus_vm_pressure_level: 1, 2 or 4.
Pressure mac_pressure(std::optional<std::int64_t> level);

// The thermal pressure notification: 0 nominal to 4 sleeping.
Thermal mac_thermal(std::optional<std::uint64_t> level);

// Physical memory less what programs hold and the system cannot take back at
// once: cached file pages and purgeable ones count as available.
std::uint64_t mac_available_bytes(
    const MacPages& pages,
    std::uint64_t physical_bytes);

GpuGauge mac_gpu_gauge(
    const MacAccelerator& accelerator,
    std::uint64_t physical_bytes);

// Turns the interfaces' wrapping 32-bit counters into totals that only grow.
// Hardware interfaces alone are counted: what a tunnel or a bridge carries
// passes through one of them again.
class MacTraffic {
 public:
  void add(const std::vector<MacInterface>& interfaces);
  std::uint64_t in_bytes() const {
    return in_bytes_;
  }
  std::uint64_t out_bytes() const {
    return out_bytes_;
  }

 private:
  std::map<std::string, MacInterface> before_;
  std::uint64_t in_bytes_ = 0;
  std::uint64_t out_bytes_ = 0;
};

// Turns what the source reads into gauges. Not thread-safe; the source must
// outlive it.
class MacGauges {
 public:
  explicit MacGauges(MacSource& source);

  // Fills all but the time and the rates.
  void read(Sample& sample, Counters& now);

 private:
  MacSource& source_;
  std::uint64_t physical_bytes_;
  MacTraffic traffic_;
};

} // namespace temper::machine
