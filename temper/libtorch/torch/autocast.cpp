#include "temper/libtorch/torch/autocast.h"

#include <ATen/autocast_mode.h>

#include <type_traits>

#include "temper/base/error.h"
#include "temper/base/text.h"

// Newer LibTorchs have one pair of functions for all devices; 1.13 has one for
// the CPU and one for CUDA. What this LibTorch lacks is answered by these,
// which any real function beats. Not in temper's namespace, where they would
// hide the real ones.
namespace {
namespace autocast_stand_in {
struct Anything {
  template <class T>
  Anything(const T&) {} // NOLINT(google-explicit-constructor)
};
struct Missing {};
[[maybe_unused]] Missing set_autocast_enabled(Anything, Anything) {
  return {};
}
[[maybe_unused]] Missing set_autocast_dtype(Anything, Anything) {
  return {};
}
} // namespace autocast_stand_in
} // namespace

namespace temper::libtorch {
namespace {

// Templates, so that the branch for another LibTorch is never compiled.
template <class Bool>
void switch_by_name(at::DeviceType device, Bool on) {
  using namespace at::autocast; // NOLINT(google-build-using-namespace)
  if (device == at::kCPU) set_cpu_enabled(on);
  if (device == at::kCUDA) set_enabled(on);
}

template <class Type>
void set_type_by_name(at::DeviceType device, Type type) {
  using namespace at::autocast; // NOLINT(google-build-using-namespace)
  if (device == at::kCPU) return set_autocast_cpu_dtype(type);
  if (device == at::kCUDA) return set_autocast_gpu_dtype(type);
  throw Error(
      cat("[train] this LibTorch has no half precision on ",
          c10::DeviceTypeName(device, true),
          "."),
      "Set precision = \"fp32\", or use a newer LibTorch.");
}

template <class Device>
void switch_autocast(Device device, bool on) {
  using namespace autocast_stand_in; // NOLINT(google-build-using-namespace)
  using namespace at::autocast; // NOLINT(google-build-using-namespace)
  if constexpr (std::is_same_v<
                    decltype(set_autocast_enabled(device, on)),
                    Missing>)
    switch_by_name(device, on);
  else
    set_autocast_enabled(device, on);
}

template <class Device>
void set_autocast_type(Device device, at::ScalarType type) {
  using namespace autocast_stand_in; // NOLINT(google-build-using-namespace)
  using namespace at::autocast; // NOLINT(google-build-using-namespace)
  if constexpr (std::is_same_v<
                    decltype(set_autocast_dtype(device, type)),
                    Missing>)
    set_type_by_name(device, type);
  else
    set_autocast_dtype(device, type);
}

thread_local std::optional<Autocast> current;

void set_current(const std::optional<Autocast>& autocast) {
  current = autocast;
  if (autocast) set_autocast_type(autocast->device, autocast->type);
}

} // namespace

AutocastScope::AutocastScope(at::DeviceType device, at::ScalarType type)
    : before_(current), device_(device) {
  set_current(Autocast{device, type});
  switch_autocast(device, true);
  at::autocast::set_autocast_cache_enabled(false);
}

AutocastScope::~AutocastScope() {
  switch_autocast(device_, before_ && before_->device == device_);
  at::autocast::set_autocast_cache_enabled(!before_);
  set_current(before_);
}

const std::optional<Autocast>& AutocastScope::now() {
  return current;
}

} // namespace temper::libtorch
