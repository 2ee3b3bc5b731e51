// Devices by the names that users give them. LibTorch's own names, and "sim"
// for the simulated device, which 1.13 cannot call by a name of its own.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace temper::libtorch {

// "cpu", "mps", "cuda:1"; "sim", which is registered by being asked for.
c10::Device device_of(const std::string& name);

std::string name_of(const c10::Device& device);

} // namespace temper::libtorch
