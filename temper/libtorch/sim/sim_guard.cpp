// The answers to what LibTorch asks of a device beside its operators: which one
// is current, its one stream, events (there is nothing to wait for), and from
// 2.1 on a table of hooks. Autograd and manual_seed of newer versions look
// there for an accelerator, and find none otherwise.
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "temper/libtorch/sim/sim_device.h"

#if __has_include(<ATen/detail/PrivateUse1HooksInterface.h>)
#include <ATen/detail/PrivateUse1HooksInterface.h>
#endif

namespace temper::libtorch::sim {
namespace {

struct SimGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return sim::type();
  }
  c10::Device exchangeDevice(c10::Device) const override {
    return place();
  }
  c10::Device getDevice() const override {
    return place();
  }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, place());
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, place());
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

#if __has_include(<ATen/detail/PrivateUse1HooksInterface.h>)
// Random numbers come from the CPU's kernels and the CPU's generator; this one
// is only there to be seeded. Not marked override: 2.1 has some, 2.14 all.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
#pragma GCC diagnostic ignored "-Winconsistent-missing-override"
struct SimHooks final : at::PrivateUse1HooksInterface {
  void init() const {}
  bool isBuilt() const {
    return true;
  }
  bool isAvailable() const {
    return true;
  }
  bool hasPrimaryContext(c10::DeviceIndex) const {
    return true;
  }
  c10::DeviceIndex deviceCount() const {
    return 1;
  }
  c10::DeviceIndex getCurrentDevice() const {
    return 0;
  }
  void setCurrentDevice(c10::DeviceIndex) const {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const {
    return 0;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const {
    return 0;
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const {
    static const at::Generator generator = at::detail::createCPUGenerator();
    return generator;
  }
};
#pragma GCC diagnostic pop
#endif

} // namespace

void register_guard() {
  static SimGuard& guard = *new SimGuard;
  const c10::impl::DeviceGuardImplRegistrar registered(sim::type(), &guard);
}

void register_hooks() {
#if __has_include(<ATen/detail/PrivateUse1HooksInterface.h>)
  at::RegisterPrivateUse1HooksInterface(new SimHooks);
#endif
}

} // namespace temper::libtorch::sim
