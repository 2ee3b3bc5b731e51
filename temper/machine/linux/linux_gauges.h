// The readings that change on a Linux machine, from the files below `root`: "/"
// on the real machine, any directory in a test. Compiled on every platform.
// gauges_linux.cpp adds what takes a system call.
// Private to machine/linux.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "temper/machine/gauges.h"
#include "temper/machine/linux/linux_cgroup.h"
#include "temper/machine/linux/linux_thermal.h"

namespace temper::machine {

// /proc/stat: the system and each core that is online.
void parse_cpu_times(std::string_view stat, Counters& counters);

// /proc/loadavg: of the last minute.
std::optional<double> load_average(std::string_view loadavg);

// /proc/diskstats: whole disks that are no layer over other disks, so that no
// byte counts twice.
void parse_disk_bytes(std::string_view diskstats, Counters& counters);

// /proc/net/dev: without the loopback, and without bridges, tunnels and the
// like, whose bytes pass a real interface too. Where there is nothing else, as
// in some containers, those count.
void parse_network_bytes(std::string_view dev, Counters& counters);

// /proc/pressure/memory. The kernel tells what share of the last 10 s some
// task, and all tasks at once ("full"), waited for memory. A tenth of the time
// lost is the line for both: some waiting is a warning, everything standing
// still is critical.
void parse_memory_pressure(std::string_view pressure, Sample& sample);

class LinuxGauges {
 public:
  explicit LinuxGauges(std::filesystem::path root = "/");

  // All but the process's CPU time, the open files and the GPUs.
  void read(Sample& sample, Counters& now);

 private:
  void read_memory(Sample& sample) const;

  std::filesystem::path root_;
  std::vector<Cgroup> memory_groups_;
  std::vector<Cgroup> cpu_groups_;
  LinuxThermal thermal_;
};

} // namespace temper::machine
