#include "temper/libtorch/torch/device_name.h"

#include "temper/libtorch/sim/sim.h"

namespace temper::libtorch {

c10::Device device_of(const std::string& name) {
  if (name != "sim") return c10::Device(name);
  sim::install();
  return {c10::DeviceType::PrivateUse1, 0};
}

std::string name_of(const c10::Device& device) {
  return device.type() == c10::DeviceType::PrivateUse1 ? "sim" : device.str();
}

} // namespace temper::libtorch
