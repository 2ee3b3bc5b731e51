#include "temper/libtorch/compat.h"

#include <torch/version.h>

#include "temper/base/text.h"

#if __has_include(<ATen/detail/MPSHooksInterface.h>) // from 2.0
#include <ATen/detail/MPSHooksInterface.h>
#endif

namespace temper::libtorch {
namespace {

// The best overload that compiles is taken: int is a better match for 0 than
// long. `hooks` is a template parameter, so that a member this version lacks
// removes the overload instead of breaking the build.
template <class Hooks>
auto recommended(const Hooks& hooks, int)
    -> decltype(std::optional<std::uint64_t>(hooks.getRecommendedMaxMemory())) {
  if (!hooks.hasMPS()) return std::nullopt;
  return hooks.getRecommendedMaxMemory();
}

template <class Hooks>
std::optional<std::uint64_t> recommended(const Hooks&, long) {
  return std::nullopt;
}

} // namespace

std::string header_version() {
  return cat(
      TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".", TORCH_VERSION_PATCH);
}

std::optional<std::uint64_t> mps_recommended_bytes() {
#if __has_include(<ATen/detail/MPSHooksInterface.h>)
  return recommended(at::detail::getMPSHooks(), 0);
#else
  return recommended(0, 0);
#endif
}

} // namespace temper::libtorch
