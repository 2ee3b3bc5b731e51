#include "temper/kernels/simd/target.h"

#include <hwy/targets.h>

#include <atomic>

#include "temper/base/error.h"

namespace temper::kernels {
namespace {

bool can_run(Target target) {
  switch (target) {
    case Target::kBaseline:
      return true;
#if defined(__x86_64__)
    case Target::kAvx2:
      return (hwy::SupportedTargets() & HWY_AVX2) != 0;
    case Target::kAvx512:
      return (hwy::SupportedTargets() & HWY_AVX3) != 0;
    case Target::kNeon:
      return false;
#elif defined(__aarch64__)
    case Target::kNeon:
      return true;
    case Target::kAvx2:
    case Target::kAvx512:
      return false;
#else
    default:
      return false;
#endif
  }
  return false;
}

std::atomic<Target>& chosen() {
  static std::atomic<Target> target{runnable_targets().back()};
  return target;
}

} // namespace

std::string name_of(Target target) {
  switch (target) {
    case Target::kAvx2:
      return "AVX2";
    case Target::kAvx512:
      return "AVX-512";
    case Target::kNeon:
      return "NEON";
    case Target::kBaseline:
      break;
  }
  return "baseline";
}

std::vector<Target> runnable_targets() {
  std::vector<Target> found;
  for (const Target target :
       {Target::kBaseline, Target::kNeon, Target::kAvx2, Target::kAvx512})
    if (can_run(target)) found.push_back(target);
  return found;
}

Target target() {
  return chosen().load(std::memory_order_relaxed);
}

void choose_target(Target target) {
  check(can_run(target), "this processor has the chosen vector unit");
  chosen().store(target);
}

void choose_fastest_target() {
  chosen().store(runnable_targets().back());
}

} // namespace temper::kernels
