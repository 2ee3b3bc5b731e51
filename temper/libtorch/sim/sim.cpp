#include "temper/libtorch/sim/sim.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DeviceType.h>
#include <torch/library.h>

#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "temper/base/error.h"
#include "temper/libtorch/sim/sim_device.h"

// From 2.0 on LibTorch lets a device have a name of its own; what 1.13 lacks
// is answered by this, which any real function beats. Not in temper's
// namespace, where it would hide the real one.
namespace {
namespace device_stand_in {
struct Anything {
  template <class T>
  Anything(const T&) {} // NOLINT(google-explicit-constructor)
};
[[maybe_unused]] void register_privateuse1_backend(Anything) {}
} // namespace device_stand_in
} // namespace

namespace temper::libtorch::sim {
namespace {

template <class Name>
void name_the_device(const Name& name) {
  using namespace device_stand_in; // NOLINT(google-build-using-namespace)
  using namespace c10; // NOLINT(google-build-using-namespace)
  register_privateuse1_backend(name);
}

torch::CppFunction on_host() {
  return torch::CppFunction::makeFromBoxedFunction<&run_on_host>();
}

void register_operators(std::vector<torch::Library>& kept) {
  const auto library = [&](const char* names, c10::DispatchKey key) -> auto& {
    return kept.emplace_back(
        torch::Library::IMPL, names, key, __FILE__, __LINE__);
  };
  library("_", dispatch_key()).fallback(on_host());
  // Until 2.10 LibTorch leaves a hole above what may_replace overrides.
  constexpr auto kAutograd = c10::DispatchKey::AutogradPrivateUse1;
  if (key() == Key::own &&
      !c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(kAutograd))
    library("_", kAutograd).fallback(torch::CppFunction::makeFallthrough());
  torch::Library& aten = library("aten", dispatch_key());
  register_tensors(aten);
  // Those that LibTorch would send elsewhere, or compute by another formula.
  for (const char* name :
       {"convolution",
        "convolution_backward",
        "native_layer_norm",
        "native_layer_norm_backward",
        "native_group_norm",
        "silu_backward",
        "mish_backward"})
    aten.impl(name, on_host());
}

} // namespace

void install(Key key) {
  static std::mutex mutex; // settings are measured on a thread of their own
  const std::lock_guard<std::mutex> lock(mutex);
  static std::optional<Key> installed;
  if (installed) {
    check(*installed == key, "one simulated device a process");
    return;
  }
  installed = key;
  set_key(key);
  c10::SetAllocator(type(), &allocator());
  register_guard();
  if (key == Key::own) {
    name_the_device(std::string("sim"));
    register_hooks();
  }
  // Never unregistered: tensors may outlive everything.
  static std::vector<torch::Library>& kept = *new std::vector<torch::Library>;
  kept.reserve(3);
  register_operators(kept);
}

} // namespace temper::libtorch::sim
