#include "temper/machine/startup.h"

#include <algorithm>
#include <cstdlib>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/libtorch/facts.h"
#include "temper/machine/limits.h"

namespace temper::machine {
namespace {

constexpr const char* kHigh = "PYTORCH_MPS_HIGH_WATERMARK_RATIO";
constexpr const char* kLow = "PYTORCH_MPS_LOW_WATERMARK_RATIO";
constexpr const char* kFallback = "PYTORCH_ENABLE_MPS_FALLBACK";
constexpr const char* kDuplicateOpenmp = "KMP_DUPLICATE_LIB_OK";

// Into a Startup or a Loading.
template <class Decided>
void set(
    Decided& decided,
    const char* name,
    const std::string& value,
    const std::string& why) {
  decided.variables.emplace_back(name, value);
  decided.reasons.push_back(cat(name, "=", value, ": ", why));
}

// LibTorch's default lets MPS take 1.7 times the recommended working set
// (1.13: all there is), and the Mac swaps long before that ends in an error.
// The low mark must not be above the high one, or the first allocation fails
// with "invalid low watermark ratio 1.4".
void plan_watermarks(Startup& startup, const Environment& environment) {
  const auto high = variable(environment, kHigh);
  const auto low = variable(environment, kLow);
  if (!high)
    set(startup,
        kHigh,
        "1.0",
        "out of memory is an error that temper handles, not a swapping Mac");
  if (low) return;
  const double limit = high ? parse_double(*high).value_or(0) : 1.0;
  // 0 switches the limit off and its bound with it.
  if (limit > 0 && limit < 1.4)
    set(startup,
        kLow,
        decimals(limit * 0.9, 2),
        "LibTorch refuses a low mark above the high one");
}

void plan_fallback(Loading& loading, const Environment& environment) {
  const auto now = variable(environment, kFallback);
  if (now && *now != "0") return;
  set(loading, kFallback, "1", "asked for; LibTorch reads it while loading");
}

// At the end of every parallel part threads wait for the slowest. libgomp spins
// 300,000 times before it sleeps: on a busy machine that takes the core from
// the very thread that is waited for. 1,000 is its own choice where threads
// outnumber cores. A step of cnn (batch 64, 2 threads on 2 cores) takes 56 ms
// instead of 280 at a load of 9, and 15 ms either way when it is alone.
void plan_spinning(Loading& loading, const Environment& environment) {
  constexpr const char* kSpins = "GOMP_SPINCOUNT";
  for (const char* name : {kSpins, "OMP_WAIT_POLICY"})
    if (variable(environment, name)) return;
  set(loading,
      kSpins,
      "1000",
      "threads that wait leave the core to others; OpenMP reads it while "
      "loading");
}

// LibTorch's own default is one thread on a two-core machine. Efficiency cores
// are left alone: every operator waits for its slowest thread.
void plan_threads(Startup& startup, int asked, const Machine& machine) {
  startup.threads = asked > 0 ? asked : fast_threads(machine.cpu);
  startup.reasons.push_back(
      cat("LibTorch threads: ",
          startup.threads,
          asked > 0 ? ", as asked" : ", one for each fast core it may use",
          " (LibTorch's own default: ",
          machine.libtorch.default_threads,
          ")"));
}

} // namespace

int fast_threads(const Cpu& cpu) {
  int fast = cpu.performance > 0 ? cpu.performance : cpu.physical;
  if (fast == 0) fast = cpu.logical;
  const int usable = std::max(1, static_cast<int>(cpu.usable));
  return fast > 0 ? std::min(fast, usable) : usable;
}

Loading loading_variables(
    const LoadingRequest& request,
    const Environment& environment) {
  Loading loading;
  if (request.mps_fallback) plan_fallback(loading, environment);
  if (request.computes) plan_spinning(loading, environment);
  return loading;
}

Startup plan_startup(
    const StartupRequest& request,
    const Environment& environment,
    const Machine& machine) {
  if (!request.inspect_only && variable(environment, kDuplicateOpenmp))
    throw Error(
        cat("[machine] ",
            kDuplicateOpenmp,
            " is set: with two OpenMP runtimes in one process, training can "
            "hang or compute wrong numbers (pytorch#193520)."),
        cat("Unset it (unset ",
            kDuplicateOpenmp,
            "); temper doctor lists the OpenMP runtimes that are loaded."));
  Startup startup;
  if (machine.platform.os == "macos") plan_watermarks(startup, environment);
  plan_threads(startup, request.threads, machine);
  return startup;
}

void apply_startup(const Startup& startup) {
  for (const auto& [name, value] : startup.variables)
    ::setenv(name.c_str(), value.c_str(), 1);
  const auto files = raise_open_files();
  if (files.after.soft != files.before.soft)
    log::detail(
        cat("open files: soft limit raised from ",
            files.before.soft,
            " to ",
            files.after.soft));
  for (const auto& reason : startup.reasons)
    log::detail(reason);
  libtorch::set_threads(startup.threads, 1);
}

} // namespace temper::machine
