// What temper sets right before it works, and why. Decided as a plain value
// from the environment and the machine, then carried out; each decision has a
// line for --verbose.
//
// It must happen before LibTorch first touches a device: the MPS allocator
// reads its watermarks once, and the MPS fallback is read while the library
// is being loaded, so that one needs a fresh start of the program.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "temper/base/environment.h"
#include "temper/machine/machine.h"

namespace temper::machine {

struct StartupRequest {
  bool mps_fallback = false; // run operators MPS lacks on the CPU
  int threads = 0; // 0: as many as there are fast cores to use
  bool inspect_only = false; // doctor reports what others refuse
  bool measures = false; // speeds, which shall be those of a trainer
};

struct Startup {
  std::vector<std::pair<std::string, std::string>> variables; // to set
  bool restart = false; // with `variables` in the environment
  int threads = 1;
  std::vector<std::string> reasons; // one line each
};

// One for each fast core this process may use.
int fast_threads(const Cpu& cpu);

// What a process that computes is to be started with: the OpenMP runtime reads
// it while it is loaded, and later is too late. Whatever the user has set for
// the waiting of threads stays.
std::vector<std::pair<std::string, std::string>> trainer_variables(
    const Environment& environment);

// Error when the environment is one in which training must not start.
Startup plan_startup(
    const StartupRequest& request,
    const Environment& environment,
    const Machine& machine);

// Sets the variables, the open-file limit and LibTorch's threads, and logs the
// reasons. The restart is up to the caller, who knows the arguments.
void apply_startup(const Startup& startup);

} // namespace temper::machine
