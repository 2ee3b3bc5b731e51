// Half precision chosen operator by operator, as torch.autocast has it, under
// the names that this LibTorch gives it. Includes torch: see
// model/module/module.h.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>

namespace temper::libtorch {

struct Autocast {
  at::DeviceType device = at::kCPU;
  at::ScalarType type = at::kBFloat16;
};

// Switches autocast on for this thread and this kind of device while it lives.
// Casts of weights are not kept: one made while no gradient was recorded, as in
// a segment that is computed again, would be used where one is.
class AutocastScope {
 public:
  // type: at::kBFloat16 or at::kHalf. Error when this LibTorch has no autocast
  // for such a device.
  AutocastScope(at::DeviceType device, at::ScalarType type);
  explicit AutocastScope(const Autocast& again)
      : AutocastScope(again.device, again.type) {}
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

  // The autocast that a scope has switched on in this thread; no value when
  // none has.
  static const std::optional<Autocast>& now();

 private:
  std::optional<Autocast> before_;
  at::DeviceType device_;
};

} // namespace temper::libtorch
