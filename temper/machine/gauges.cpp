#include "temper/machine/gauges.h"

#include <algorithm>
#include <chrono>

#include "temper/base/clock.h"
#include "temper/machine/gauges_system.h"

namespace temper::machine {
namespace {

std::optional<double> busy_share(
    const Counters::Busy& before,
    const Counters::Busy& now) {
  if (now.total <= before.total || now.busy < before.busy) return std::nullopt;
  const auto busy = static_cast<double>(now.busy - before.busy);
  const auto total = static_cast<double>(now.total - before.total);
  return std::min(busy / total, 1.0);
}

std::optional<double> per_second(
    std::optional<std::uint64_t> before,
    std::optional<std::uint64_t> now,
    double seconds) {
  if (!before || !now || *now < *before) return std::nullopt;
  return static_cast<double>(*now - *before) / seconds;
}

// All or none: a place in the list means a core, so a gap would shift the rest.
std::vector<double> core_shares(
    const std::vector<Counters::Busy>& before,
    const std::vector<Counters::Busy>& now) {
  if (before.size() != now.size()) return {};
  std::vector<double> shares;
  shares.reserve(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto share = busy_share(before[i], now[i]);
    if (!share) return {};
    shares.push_back(*share);
  }
  return shares;
}

} // namespace

const char* to_string(Pressure pressure) {
  switch (pressure) {
    case Pressure::unknown:
      return "unknown";
    case Pressure::normal:
      return "normal";
    case Pressure::warning:
      return "warning";
    case Pressure::critical:
      return "critical";
  }
  return "unknown";
}

const char* to_string(Thermal thermal) {
  switch (thermal) {
    case Thermal::unknown:
      return "unknown";
    case Thermal::nominal:
      return "nominal";
    case Thermal::moderate:
      return "moderate";
    case Thermal::heavy:
      return "heavy";
    case Thermal::critical:
      return "critical";
  }
  return "unknown";
}

void fill_rates(
    Sample& sample,
    const Counters& before,
    const Counters& now,
    double seconds) {
  if (!(seconds > 0)) return;
  sample.cpu = busy_share(before.cpu, now.cpu);
  sample.cores = core_shares(before.cores, now.cores);
  sample.stolen = busy_share(before.stolen, now.stolen);
  sample.throttled = busy_share(before.throttled, now.throttled);
  if (now.process_cpu_s >= before.process_cpu_s)
    sample.process_cpu = (now.process_cpu_s - before.process_cpu_s) / seconds;
  sample.disk_read_bytes_per_s =
      per_second(before.disk_read_bytes, now.disk_read_bytes, seconds);
  sample.disk_write_bytes_per_s =
      per_second(before.disk_write_bytes, now.disk_write_bytes, seconds);
  sample.network_in_bytes_per_s =
      per_second(before.network_in_bytes, now.network_in_bytes, seconds);
  sample.network_out_bytes_per_s =
      per_second(before.network_out_bytes, now.network_out_bytes, seconds);
}

Gauges::Gauges() : system_(System::open()) {}
Gauges::~Gauges() = default;

double Gauges::now_s() const {
  return steady_seconds();
}

Sample Gauges::read() {
  Sample sample;
  Counters now;
  sample.time_s = steady_seconds();
  system_->read(sample, now);
  if (!first_) fill_rates(sample, before_, now, sample.time_s - before_s_);
  before_ = std::move(now);
  before_s_ = sample.time_s;
  first_ = false;
  return sample;
}

} // namespace temper::machine
