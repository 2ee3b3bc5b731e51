// Readings that change while a run goes on, taken about once a second. Cheap: a
// read costs well under a millisecond and opens no more than a few files.
//
// Rates (utilisation, bytes per second) are over the time since the read
// before; the first read has none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace temper::machine {

enum class Pressure { unknown, normal, warning, critical };
enum class Thermal { unknown, nominal, moderate, heavy, critical };

struct GpuGauge {
  std::string name;
  std::optional<double> utilisation; // 0..1
  std::optional<std::uint64_t> used_bytes;
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::int64_t> recoveries; // GPU resets since boot (Apple)
};

struct Sample {
  double time_s = 0; // steady clock
  std::optional<double> cpu; // whole system, 0..1
  std::vector<double> cores; // each, 0..1
  std::optional<double> stolen; // share taken by the hypervisor, 0..1
  // Share of a container's periods in which its CPU quota was used up, 0..1.
  std::optional<double> throttled;
  std::optional<double> load_average; // of the last minute
  std::optional<double> process_cpu; // in cores: 1.0 is one core busy
  std::uint64_t rss_bytes = 0; // macOS: physical footprint
  std::uint64_t peak_rss_bytes = 0;
  // The part of rss_bytes that no file gives back: without the pages of mapped
  // data, which grow as it is read and are the system's to drop.
  std::uint64_t own_bytes = 0;
  std::uint64_t available_bytes = 0; // to programs, without swapping
  std::uint64_t swap_used_bytes = 0;
  Pressure pressure = Pressure::unknown;
  // Linux: share of the last 10 s in which some task waited for memory, 0..1.
  std::optional<double> memory_stall;
  std::vector<GpuGauge> gpus;
  std::optional<double> disk_read_bytes_per_s;
  std::optional<double> disk_write_bytes_per_s;
  std::optional<double> network_in_bytes_per_s;
  std::optional<double> network_out_bytes_per_s;
  Thermal thermal = Thermal::unknown;
  int open_files = 0; // of this process
};

const char* to_string(Pressure pressure);
const char* to_string(Thermal thermal);

// Running totals as the system counts them; a Sample is made of two.
struct Counters {
  struct Busy {
    std::uint64_t busy = 0; // in any unit, the same for both
    std::uint64_t total = 0;
  };
  Busy cpu;
  Busy stolen; // busy: time that went to other guests; total: all time
  Busy throttled; // busy: periods of the quota that ran out; total: periods
  std::vector<Busy> cores;
  double process_cpu_s = 0;
  std::optional<std::uint64_t> disk_read_bytes;
  std::optional<std::uint64_t> disk_write_bytes;
  std::optional<std::uint64_t> network_in_bytes;
  std::optional<std::uint64_t> network_out_bytes;
};

// Fills the rates of `sample` from two counter readings `seconds` apart. A
// counter that went backwards (a core taken offline, an interface gone) gives
// no rate rather than a wrong one.
void fill_rates(
    Sample& sample,
    const Counters& before,
    const Counters& now,
    double seconds);

// Reads the gauges. Not thread-safe; one owner reads it.
class Gauges {
 public:
  Gauges();
  ~Gauges();
  Gauges(const Gauges&) = delete;
  Gauges& operator=(const Gauges&) = delete;

  Sample read();
  double now_s() const; // the clock of Sample::time_s

  struct System; // the platform's part: gauges_system.h

 private:
  std::unique_ptr<System> system_;
  Counters before_;
  double before_s_ = 0;
  bool first_ = true;
};

} // namespace temper::machine
