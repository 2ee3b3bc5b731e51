// Everything doctor looks at, gathered once: the machine, the moment, the
// environment, and a few short measurements. The checks are functions of it,
// so that each can be shown any machine there is.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/machine/devices.h"
#include "temper/machine/gauges.h"
#include "temper/machine/load.h"
#include "temper/machine/machine.h"

namespace temper::doctor {

// How fast matrices are multiplied, against what one core can do at most.
struct BlasSpeed {
  std::string name; // of the library, as machine::blas_name tells it
  double sgemm_gflops = 0;
  double peak_gflops = 0;
};

struct DiskSpeed {
  std::string error; // why it could not be measured
  double write_bytes_per_s = 0; // synced
  double fsync_s = 0; // of one small write
};

struct Evidence {
  machine::Machine machine;
  machine::Sample sample;
  std::optional<machine::Load> load; // while the evidence was gathered
  Environment environment;
  std::vector<machine::DeviceReport> devices;
  std::string requested_device = "auto";
  std::vector<std::string> openmp_runtimes;
  std::optional<BlasSpeed> blas;
  std::optional<DiskSpeed> disk;
};

// Told what is being looked at, for a progress line.
using Progress = std::function<void(const std::string& what)>;

Evidence gather(
    const machine::Machine& machine,
    const Environment& environment,
    const std::string& requested_device,
    const Progress& progress);

// Writes and removes one file of at most `bytes` in `directory`, for at most
// about `seconds`.
DiskSpeed measure_disk(
    const std::filesystem::path& directory,
    std::uint64_t bytes,
    double seconds);

} // namespace temper::doctor
