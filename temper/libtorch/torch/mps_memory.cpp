#include "temper/libtorch/mps_memory.h"

#include <ATen/ATen.h>

#include <algorithm>

#if __has_include(<ATen/detail/MPSHooksInterface.h>)
#include <ATen/detail/MPSHooksInterface.h>
#endif

namespace temper::libtorch {

#if __has_include(<ATen/detail/MPSHooksInterface.h>)
namespace {

// From 2.5 on.
template <class Hooks>
auto recommended(const Hooks& hooks, int)
    -> decltype(hooks.getRecommendedMaxMemory()) {
  return hooks.getRecommendedMaxMemory();
}
template <class Hooks>
std::size_t recommended(const Hooks&, long) {
  return 0;
}

} // namespace

MpsMemory mps_memory() {
  if (!at::hasMPS()) return {};
  const auto& hooks = at::detail::getMPSHooks();
  return {
      hooks.getCurrentAllocatedMemory(),
      hooks.getDriverAllocatedMemory(),
      recommended(hooks, 0)};
}

bool limit_mps(std::uint64_t bytes) {
  const std::uint64_t all = mps_memory().recommended_bytes;
  if (all == 0) return false;
  // A fraction of what Metal recommends; 0 would be none at all, and LibTorch
  // takes nothing above 2.
  constexpr double kLeast = 0.01;
  constexpr double kMost = 2;
  const double part = static_cast<double>(bytes) / static_cast<double>(all);
  at::detail::getMPSHooks().setMemoryFraction(std::clamp(part, kLeast, kMost));
  return true;
}

void release_mps() {
  if (at::hasMPS()) at::detail::getMPSHooks().emptyCache();
}
#else
MpsMemory mps_memory() {
  return {};
}

bool limit_mps(std::uint64_t) {
  return false;
}

void release_mps() {}
#endif

} // namespace temper::libtorch
