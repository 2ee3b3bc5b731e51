// The kind of a device by its name, which may have a number: "cuda:1".
#pragma once

#include <string_view>

#include "temper/base/words.h"

namespace temper::machine {

enum class DeviceKind {
  cpu,
  cuda,
  mps,
  sim, // a simulated one: libtorch/sim
  other, // "auto", and what nobody knows
};

inline constexpr Word<DeviceKind> kDeviceKinds[] = {
    {DeviceKind::cpu, "cpu"},
    {DeviceKind::cuda, "cuda"},
    {DeviceKind::mps, "mps"},
    {DeviceKind::sim, "sim"}};

inline DeviceKind device_kind(std::string_view device) {
  return enum_value(kDeviceKinds, device.substr(0, device.find(':')))
      .value_or(DeviceKind::other);
}

inline bool is_cpu(std::string_view device) {
  return device_kind(device) == DeviceKind::cpu;
}

inline bool is_sim(std::string_view device) {
  return device_kind(device) == DeviceKind::sim;
}

} // namespace temper::machine
