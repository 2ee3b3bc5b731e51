// The seam's answers in a program without LibTorch: the command as it opens,
// the tests of what needs no torch, and everything where TEMPER_TORCH is OFF.
#include "temper/libtorch/device_trial.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/mps_memory.h"
#include "temper/libtorch/sim/sim.h"

namespace temper::libtorch {

bool linked() {
  return false;
}

Facts facts() {
  return {};
}

void set_threads(int, int) {}

void set_threads_here(int) {}

DeviceTrial try_device(const std::string&) {
  return {false, "temper was built without LibTorch"};
}

double sgemm_gflops(int, double) {
  return 0;
}

MpsMemory mps_memory() {
  return {};
}

bool limit_mps(std::uint64_t) {
  return false;
}

void release_mps() {}

void sim::install(Key) {}

void sim::set_rules(const Rules&) {}

sim::Counts sim::counts() {
  return {};
}

void sim::reset_counts() {}

void sim::reset_peak() {}

std::map<std::string, std::int64_t> sim::kernel_counts() {
  return {};
}

} // namespace temper::libtorch
