#include "temper/machine/mac/mac_gauges.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "temper/base/text.h"
#include "temper/machine/mac/mac_facts.h"

namespace temper::machine {
namespace {

std::optional<std::int64_t> statistic(
    const MacAccelerator& accelerator,
    const char* key) {
  const auto found = accelerator.statistics.find(key);
  if (found == accelerator.statistics.end()) return std::nullopt;
  return found->second;
}

// The first of the keys this driver has. A negative count of bytes is none.
std::optional<std::uint64_t> bytes_of(
    const MacAccelerator& accelerator,
    std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto value = statistic(accelerator, key);
    if (value && *value >= 0) return static_cast<std::uint64_t>(*value);
  }
  return std::nullopt;
}

// Unsigned arithmetic crosses a wrap by itself. More than half the range
// within a second is no traffic but a counter that was reset.
std::uint32_t grown(std::uint32_t before, std::uint32_t now) {
  const std::uint32_t delta = now - before;
  return delta > std::numeric_limits<std::uint32_t>::max() / 2 ? 0 : delta;
}

Counters::Busy busy_of(const MacTicks& ticks) {
  Counters::Busy busy;
  busy.busy = std::uint64_t{ticks.user} + ticks.system + ticks.nice;
  busy.total = busy.busy + ticks.idle;
  return busy;
}

} // namespace

Pressure mac_pressure(std::optional<std::int64_t> level) {
  if (level == 1) return Pressure::normal;
  if (level == 2) return Pressure::warning;
  if (level == 4) return Pressure::critical;
  return Pressure::unknown;
}

Thermal mac_thermal(std::optional<std::uint64_t> level) {
  if (level == 0u) return Thermal::nominal;
  if (level == 1u) return Thermal::moderate;
  if (level == 2u) return Thermal::heavy;
  if (level == 3u || level == 4u) return Thermal::critical;
  return Thermal::unknown;
}

std::uint64_t mac_available_bytes(
    const MacPages& pages,
    std::uint64_t physical_bytes) {
  const std::uint64_t held = pages.active + pages.inactive + pages.wired +
      pages.speculative + pages.compressor;
  const std::uint64_t spare = pages.purgeable + pages.external;
  // The counts are not taken at one instant, so neither difference is sure to
  // be positive.
  const std::uint64_t used_bytes =
      (held > spare ? held - spare : 0) * pages.page_bytes;
  return physical_bytes > used_bytes ? physical_bytes - used_bytes : 0;
}

GpuGauge mac_gpu_gauge(
    const MacAccelerator& accelerator,
    std::uint64_t physical_bytes) {
  GpuGauge gauge;
  gauge.name =
      accelerator.model.empty() ? accelerator.class_name : accelerator.model;
  auto percent = statistic(accelerator, "Device Utilization %");
  if (!percent) percent = statistic(accelerator, "GPU Activity(%)");
  if (percent) {
    gauge.utilisation =
        std::clamp(static_cast<double>(*percent) / 100.0, 0.0, 1.0);
  }
  gauge.recoveries = statistic(accelerator, "recoveryCount");
  if (mac_gpu_vendor(accelerator) == "apple") {
    gauge.used_bytes = bytes_of(accelerator, {"In use system memory"});
    if (mac_gpu_on_chip(accelerator) && physical_bytes > 0) {
      gauge.total_bytes = physical_bytes;
    }
  } else {
    gauge.used_bytes =
        bytes_of(accelerator, {"inUseVidMemoryBytes", "vramUsedBytes"});
    if (accelerator.vram_mb && *accelerator.vram_mb > 0) {
      gauge.total_bytes = static_cast<std::uint64_t>(*accelerator.vram_mb)
          << 20;
    }
  }
  return gauge;
}

void MacTraffic::add(const std::vector<MacInterface>& interfaces) {
  std::map<std::string, MacInterface> now;
  for (const MacInterface& interface : interfaces) {
    if (!interface.name.starts_with("en")) continue;
    const auto before = before_.find(interface.name);
    if (before != before_.end()) {
      in_bytes_ += grown(before->second.in_bytes, interface.in_bytes);
      out_bytes_ += grown(before->second.out_bytes, interface.out_bytes);
    }
    now[interface.name] = interface;
  }
  // An interface that is gone is forgotten: it may come back counting from 0.
  before_ = std::move(now);
}

MacGauges::MacGauges(MacSource& source) : source_(source) {
  const auto physical = source.number("hw.memsize");
  physical_bytes_ =
      physical && *physical > 0 ? static_cast<std::uint64_t>(*physical) : 0;
}

void MacGauges::read(Sample& sample, Counters& now) {
  if (const auto ticks = source_.ticks()) {
    for (const MacTicks& core : *ticks) {
      now.cores.push_back(busy_of(core));
      now.cpu.busy += now.cores.back().busy;
      now.cpu.total += now.cores.back().total;
    }
  }
  now.process_cpu_s = source_.process_cpu_s().value_or(0);
  if (const auto footprint = source_.footprint()) {
    sample.rss_bytes = footprint->now_bytes;
    sample.own_bytes = footprint->now_bytes;
    sample.peak_rss_bytes = footprint->peak_bytes.value_or(0);
  }
  if (const auto pages = source_.pages()) {
    sample.available_bytes = mac_available_bytes(*pages, physical_bytes_);
  }
  if (const auto swap = source_.swap()) {
    sample.swap_used_bytes = swap->used_bytes;
  }
  sample.pressure =
      mac_pressure(source_.number("kern.memorystatus_vm_pressure_level"));
  sample.thermal = mac_thermal(source_.thermal_level());
  for (const MacAccelerator& accelerator : source_.accelerators()) {
    sample.gpus.push_back(mac_gpu_gauge(accelerator, physical_bytes_));
  }
  if (const auto disk = source_.disk_bytes()) {
    now.disk_read_bytes = disk->read;
    now.disk_write_bytes = disk->written;
  }
  if (const auto interfaces = source_.interfaces()) {
    traffic_.add(*interfaces);
    now.network_in_bytes = traffic_.in_bytes();
    now.network_out_bytes = traffic_.out_bytes();
  }
  sample.open_files = source_.open_files().value_or(0);
}

} // namespace temper::machine
