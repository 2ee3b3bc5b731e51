#include "temper/kernels/simd/target.h"

#include <hwy/targets.h>

#include <atomic>

#include "temper/base/error.h"
#include "temper/base/text.h"

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

constexpr const char* kTargetVariable = "TEMPER_VECTORS";

std::string word_of(Target target) {
  return target == Target::kAvx512 ? "avx512" : lower(name_of(target));
}

// Highway's kernels have the same bits on every unit; it is told all the same,
// so that what is timed is one processor's work.
void limit_highway(Target target) {
#if defined(__x86_64__)
  if (target != Target::kAvx512) hwy::DisableTargets(HWY_AVX3 | (HWY_AVX3 - 1));
#else
  static_cast<void>(target);
#endif
}

Target first_choice() {
  const auto asked = asked_target(current_environment());
  if (!asked) return runnable_targets().back();
  limit_highway(*asked);
  return *asked;
}

std::atomic<Target>& chosen() {
  static std::atomic<Target> target{first_choice()};
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

std::optional<Target> asked_target(const Environment& environment) {
  const std::string asked = variable_text(environment, kTargetVariable);
  if (asked.empty()) return std::nullopt;
  std::string known;
  for (const Target each : runnable_targets()) {
    if (word_of(each) == asked) return each;
    known += cat(known.empty() ? "" : ", ", word_of(each));
  }
  throw Error(
      cat("[kernels] ",
          kTargetVariable,
          " is \"",
          asked,
          "\", and this machine has ",
          known,
          "."),
      cat("Unset ", kTargetVariable, " for the fastest of them."));
}

void choose_target(Target target) {
  check(can_run(target), "this processor has the chosen vector unit");
  chosen().store(target);
}

void choose_fastest_target() {
  chosen().store(runnable_targets().back());
}

} // namespace temper::kernels
