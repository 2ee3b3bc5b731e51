// The simulated device in the place of MPS, so that temper's `mps` branches run
// on a machine without one. Registered when the program is loaded: to LibTorch
// and to temper it is a device that was always there. From 2.0 on LibTorch also
// asks a table of hooks.
#include <ATen/CPUGeneratorImpl.h>

#include "temper/libtorch/sim/sim_device.h"

#if __has_include(<ATen/detail/MPSHooksInterface.h>)
#include <ATen/detail/MPSHooksInterface.h>
#endif

namespace temper::libtorch::sim {
namespace {

const bool registered = [] {
  install(Key::mps);
  return true;
}();

#if __has_include(<ATen/detail/MPSHooksInterface.h>)
constexpr double kRecommendedBytes = 1 << 30;

// Found by this name. Random numbers come from the CPU's kernels and the CPU's
// generator; this one is only there to be seeded.
struct MPSHooks final : at::MPSHooksInterface {
  MPSHooks() = default;
  explicit MPSHooks(at::MPSHooksArgs) {}

  void init() const override {}
  bool hasMPS() const override {
    return true;
  }
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return true;
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return true;
  }
  c10::DeviceIndex deviceCount() const override {
    return 1;
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return 0;
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const at::Generator generator = at::detail::createCPUGenerator();
    return generator;
  }
  c10::Allocator* getMPSDeviceAllocator() const override {
    return &allocator();
  }
  void deviceSynchronize() const override {}
  std::size_t getCurrentAllocatedMemory() const override {
    return counts().live_bytes;
  }
  std::size_t getDriverAllocatedMemory() const override {
    return counts().live_bytes;
  }
  std::size_t getRecommendedMaxMemory() const override {
    return static_cast<std::size_t>(kRecommendedBytes);
  }
  void setMemoryFraction(double part) const override {
    Rules rules;
    rules.has_float64 = false;
    rules.memory_bytes = static_cast<std::uint64_t>(part * kRecommendedBytes);
    set_rules(rules);
  }
};

using at::MPSHooksRegistry;
using at::RegistererMPSHooksRegistry;
REGISTER_MPS_HOOKS(MPSHooks)
#endif

} // namespace
} // namespace temper::libtorch::sim
