// The settings that temper makes before it works, and why. Decided as a plain
// value from the environment and the machine, then carried out; each decision
// has a line for --verbose.
//
// It must happen before LibTorch first touches a device: the MPS allocator
// reads its watermarks once. Variables that are read while the libraries are
// being loaded are for whoever starts the program (loading_variables).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "temper/base/environment.h"
#include "temper/machine/machine.h"

namespace temper::machine {

struct LoadingRequest {
  bool mps_fallback = false; // run operators MPS lacks on the CPU
  bool computes = false; // trains, or measures what training would take
};

// Variables and, one line each, why they are set.
struct Loading {
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> reasons;
};

// The variables that LibTorch and OpenMP read while they are loaded, when later
// is too late: a program with them is to be started with these. Whatever the
// user has set for the waiting of threads stays.
Loading loading_variables(
    const LoadingRequest& request,
    const Environment& environment);

struct StartupRequest {
  int threads = 0; // 0: as many as there are fast cores to use
  bool inspect_only = false; // doctor reports what others refuse
};

struct Startup {
  std::vector<std::pair<std::string, std::string>> variables; // to set
  int threads = 1;
  std::vector<std::string> reasons; // one line each
};

// One for each fast core this process may use.
int fast_threads(const Cpu& cpu);

// Error when the environment is one in which training must not start.
Startup plan_startup(
    const StartupRequest& request,
    const Environment& environment,
    const Machine& machine);

// Sets the variables, the open-file limit and LibTorch's threads, and logs the
// reasons.
void apply_startup(const Startup& startup);

} // namespace temper::machine
