// The devices this LibTorch can really use here, best first, and the choice
// among them. A device counts only after a trial on it succeeded.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/error.h"
#include "temper/libtorch/device_trial.h"
#include "temper/machine/machine.h"

namespace temper::machine {

struct DeviceReport {
  std::string device; // as LibTorch spells it: "cuda:0", "mps", "cpu"
  std::string model; // "Apple M2 Max", "NVIDIA A100"
  bool works = false;
  std::string why_not;
};

using TryDevice = std::function<libtorch::DeviceTrial(const std::string&)>;

// Best first: CUDA, MPS, CPU. What this LibTorch was not built for is not
// listed; what it was built for and does not work is, with the reason.
std::vector<DeviceReport> list_devices(
    const Machine& machine,
    const TryDevice& try_device = libtorch::try_device);

// The error for a name the user may not ask for, which the command line gives
// before anything is tried; no value for auto, any, cpu, gpu, mps, cuda, cuda:N
// and sim, which is nobody's machine and so never listed.
std::optional<Error> unknown_device(const std::string& request);

// `auto` and `any` never fail. Anything else that cannot be had is an Error
// that names what was looked for and what is there.
std::string choose_device(
    const std::string& request,
    const std::vector<DeviceReport>& devices);

} // namespace temper::machine
