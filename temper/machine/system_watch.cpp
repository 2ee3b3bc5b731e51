#include "temper/machine/system_watch.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "temper/base/clock.h"
#include "temper/base/text.h"
#include "temper/machine/disk.h"

namespace temper::machine {
namespace {

constexpr double kMegabyte = 1e6;

// MLflow keeps one decimal.
double rounded(double value) {
  return std::round(value * 10) / 10;
}

double megabytes(std::uint64_t bytes) {
  return rounded(static_cast<double>(bytes) / kMegabyte);
}

double percentage(std::uint64_t part, std::uint64_t whole) {
  return rounded(static_cast<double>(part) / static_cast<double>(whole) * 100);
}

void add_gpus(SystemReading& reading, const Sample& sample) {
  for (std::size_t i = 0; i < sample.gpus.size(); ++i) {
    const GpuGauge& gpu = sample.gpus[i];
    const std::string prefix = cat("gpu_", i, "_");
    if (gpu.used_bytes)
      reading.emplace_back(
          prefix + "memory_usage_megabytes", megabytes(*gpu.used_bytes));
    if (gpu.used_bytes && gpu.total_bytes && *gpu.total_bytes > 0)
      reading.emplace_back(
          prefix + "memory_usage_percentage",
          percentage(*gpu.used_bytes, *gpu.total_bytes));
    if (gpu.utilisation)
      reading.emplace_back(
          prefix + "utilization_percentage", rounded(*gpu.utilisation * 100));
  }
}

} // namespace

SystemReading system_reading(
    const Sample& sample,
    const Disk& disk,
    std::uint64_t physical_bytes,
    const Traffic& traffic) {
  SystemReading reading;
  if (sample.cpu)
    reading.emplace_back(
        "cpu_utilization_percentage", rounded(*sample.cpu * 100));
  if (physical_bytes > sample.available_bytes && sample.available_bytes > 0) {
    const std::uint64_t used = physical_bytes - sample.available_bytes;
    reading.emplace_back("system_memory_usage_megabytes", megabytes(used));
    reading.emplace_back(
        "system_memory_usage_percentage", percentage(used, physical_bytes));
  }
  if (disk.total_bytes > 0) {
    const std::uint64_t used =
        disk.total_bytes - std::min(disk.free_bytes, disk.total_bytes);
    reading.emplace_back(
        "disk_usage_percentage", percentage(used, disk.total_bytes));
    reading.emplace_back("disk_usage_megabytes", megabytes(used));
    reading.emplace_back(
        "disk_available_megabytes", megabytes(disk.free_bytes));
  }
  if (sample.network_in_bytes_per_s && sample.network_out_bytes_per_s) {
    reading.emplace_back(
        "network_receive_megabytes", traffic.received_bytes / kMegabyte);
    reading.emplace_back(
        "network_transmit_megabytes", traffic.transmitted_bytes / kMegabyte);
  }
  add_gpus(reading, sample);
  if (sample.rss_bytes > 0)
    reading.emplace_back(
        "process_memory_megabytes", megabytes(sample.rss_bytes));
  if (sample.process_cpu)
    reading.emplace_back(
        "process_cpu_percentage", rounded(*sample.process_cpu * 100));
  reading.emplace_back(
      "swap_usage_megabytes", megabytes(sample.swap_used_bytes));
  // Levels count from 0, all well.
  if (sample.pressure != Pressure::unknown)
    reading.emplace_back(
        "memory_pressure_level", static_cast<int>(sample.pressure) - 1);
  if (sample.thermal != Thermal::unknown)
    reading.emplace_back("thermal_level", static_cast<int>(sample.thermal) - 1);
  return reading;
}

SystemWatch::SystemWatch(double every_s, std::uint64_t physical_bytes)
    : every_s_(every_s), physical_bytes_(physical_bytes) {
  if (every_s_ <= 0) return;
  gauges_.read(); // rates are over the time since the read before
  last_s_ = steady_seconds();
  next_s_ = last_s_ + every_s_;
}

std::optional<SystemReading> SystemWatch::due() {
  if (every_s_ <= 0) return std::nullopt;
  const double now = steady_seconds();
  if (now < next_s_) return std::nullopt;
  const Sample sample = gauges_.read();
  const double passed = now - last_s_;
  traffic_.received_bytes += sample.network_in_bytes_per_s.value_or(0) * passed;
  traffic_.transmitted_bytes +=
      sample.network_out_bytes_per_s.value_or(0) * passed;
  last_s_ = now;
  next_s_ = now + every_s_;
  return system_reading(sample, disk_space("/"), physical_bytes_, traffic_);
}

} // namespace temper::machine
