// How hot a Linux machine is, in levels. Two witnesses: the thermal zones, by
// how far they are from the temperature at which the kernel acts, and Intel's
// counters of how often the chip slowed itself down.
// Private to machine/linux.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "temper/machine/gauges.h"

namespace temper::machine {

class LinuxThermal {
 public:
  explicit LinuxThermal(const std::filesystem::path& root);

  // Looks at the sensors every few seconds only: a zone may take milliseconds
  // to answer (ACPI asks the board's controller), and heat is slow.
  Thermal read(double time_s);

 private:
  struct Zone {
    std::filesystem::path temperature;
    std::int64_t limit_mdeg; // the lowest of its hot and critical points
  };

  Thermal look();

  std::vector<Zone> zones_;
  std::vector<std::filesystem::path> throttle_counters_;
  std::optional<std::uint64_t> throttled_;
  Thermal level_ = Thermal::unknown;
  std::optional<double> looked_s_;
};

} // namespace temper::machine
