#include "temper/doctor/evidence.h"

#include "temper/kernels/fma_peak.h"
#include "temper/libtorch/device_trial.h"
#include "temper/machine/disk.h"
#include "temper/machine/libraries.h"

namespace temper::doctor {
namespace {

// Reference BLAS is 20 to 50 times below the peak, a good one within 2 times:
// a few hundredths of a second tell them apart.
constexpr double kBlasSeconds = 0.1;
constexpr double kPeakSeconds = 0.05;
constexpr int kBlasSize = 384;

constexpr std::uint64_t kDiskBytes = std::uint64_t{32} << 20;
constexpr double kDiskSeconds = 1.0;

BlasSpeed measure_blas(const std::vector<std::string>& libraries) {
  BlasSpeed speed;
  speed.name = machine::blas_name(libraries);
  speed.peak_gflops = kernels::fma_peak(kPeakSeconds).gflops;
  speed.sgemm_gflops = libtorch::sgemm_gflops(kBlasSize, kBlasSeconds);
  return speed;
}

} // namespace

Evidence gather(
    const machine::Machine& machine,
    const Environment& environment,
    const std::string& requested_device,
    const Progress& progress) {
  Evidence evidence;
  evidence.machine = machine;
  evidence.environment = environment;
  evidence.requested_device = requested_device;
  const auto load = machine::watch_load(machine.cpu);
  evidence.sample = machine::Gauges().read();
  progress("the devices");
  evidence.devices = machine::list_devices(machine);
  const auto libraries = machine::loaded_libraries();
  evidence.openmp_runtimes = machine::openmp_runtimes(libraries);
  if (machine.libtorch.present) {
    progress("the matrix product");
    evidence.blas = measure_blas(libraries);
  }
  evidence.load = load(); // before the disk, whose work others do
  progress("the disk");
  evidence.disk = measure_disk(
      machine::nearest_existing(machine.disk.path), kDiskBytes, kDiskSeconds);
  return evidence;
}

} // namespace temper::doctor
