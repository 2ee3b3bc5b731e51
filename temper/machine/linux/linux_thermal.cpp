#include "temper/machine/linux/linux_thermal.h"

#include <algorithm>
#include <set>
#include <string>

#include "temper/base/text.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

// Millidegrees, negative when a sensor is off.
std::optional<std::int64_t> read_mdeg(const fs::path& path) {
  return parse_int(read_line(path));
}

std::vector<fs::path> children(const fs::path& directory, const char* prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator at(directory, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error))
    if (at->path().filename().string().starts_with(prefix))
      found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

// Trip points that are not set read as 0 or below absolute zero. Passive
// points are left out: firmware sets some of them at room temperature.
std::optional<std::int64_t> trip_point_of(const fs::path& zone) {
  constexpr int kMostTrips = 16;
  std::optional<std::int64_t> lowest;
  for (int i = 0; i < kMostTrips; ++i) {
    const std::string type = read_line(zone / cat("trip_point_", i, "_type"));
    if (type.empty()) break;
    if (type != "critical" && type != "hot") continue;
    const auto mdeg = read_mdeg(zone / cat("trip_point_", i, "_temp"));
    if (mdeg && *mdeg > 0 && (!lowest || *mdeg < *lowest)) lowest = mdeg;
  }
  return lowest;
}

Thermal level_at(std::int64_t mdeg, std::int64_t limit_mdeg) {
  const std::int64_t room_mdeg = limit_mdeg - mdeg;
  if (room_mdeg <= 0) return Thermal::critical;
  if (room_mdeg <= 5'000) return Thermal::heavy;
  if (room_mdeg <= 15'000) return Thermal::moderate;
  return Thermal::nominal;
}

} // namespace

LinuxThermal::LinuxThermal(const fs::path& root) {
  constexpr std::size_t kMostZones = 16;
  for (const auto& zone :
       children(root / "sys/class/thermal", "thermal_zone")) {
    if (zones_.size() == kMostZones) break;
    if (const auto limit = trip_point_of(zone))
      zones_.push_back({zone / "temp", *limit});
  }
  std::set<std::string> packages; // one counter for all cores of a package
  for (const auto& cpu : children(root / "sys/devices/system/cpu", "cpu")) {
    const fs::path counter = cpu / "thermal_throttle/package_throttle_count";
    if (!read_number(counter)) continue;
    if (packages.insert(read_line(cpu / "topology/physical_package_id")).second)
      throttle_counters_.push_back(counter);
  }
}

Thermal LinuxThermal::read(double time_s) {
  constexpr double kPeriod_s = 5;
  if (looked_s_ && time_s - *looked_s_ < kPeriod_s) return level_;
  looked_s_ = time_s;
  level_ = look();
  return level_;
}

Thermal LinuxThermal::look() {
  Thermal worst = Thermal::unknown;
  for (const Zone& zone : zones_)
    if (const auto mdeg = read_mdeg(zone.temperature))
      worst = std::max(worst, level_at(*mdeg, zone.limit_mdeg));

  if (throttle_counters_.empty()) return worst;
  std::uint64_t total = 0;
  for (const auto& counter : throttle_counters_)
    total += read_number(counter).value_or(0);
  const bool slowed = throttled_ && total > *throttled_;
  throttled_ = total;
  return std::max(worst, slowed ? Thermal::heavy : Thermal::nominal);
}

} // namespace temper::machine
