// What LibTorch asks of a device beside its operators: which one is current,
// its one stream, events (there is nothing to wait for), and from 2.0 on a
// table of hooks. Autograd and manual_seed of newer versions look there for an
// accelerator, and find none otherwise.
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "sim_mps_memory.h"

#if __has_include(<ATen/detail/MPSHooksInterface.h>)
#include <ATen/detail/MPSHooksInterface.h>
#endif

namespace temper::sim_mps {
namespace {

struct SimGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return kMps;
  }
  c10::Device exchangeDevice(c10::Device) const override {
    return {kMps, 0};
  }
  c10::Device getDevice() const override {
    return {kMps, 0};
  }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, {kMps, 0});
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, {kMps, 0});
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return 1;
  }
  void record(
      void**,
      const c10::Stream&,
      const c10::DeviceIndex,
      const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override {
    return true;
  }
  bool queryStream(const c10::Stream&) const override {
    return true;
  }
  void synchronizeStream(const c10::Stream&) const override {}
};
C10_REGISTER_GUARD_IMPL(MPS, SimGuard)

#if __has_include(<ATen/detail/MPSHooksInterface.h>)
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
};

using at::MPSHooksRegistry;
using at::RegistererMPSHooksRegistry;
REGISTER_MPS_HOOKS(MPSHooks)
#endif

} // namespace
} // namespace temper::sim_mps
