// Which settings are worth trying here, and which are not and why. A pure
// function of the machine, the devices that work and what was asked for; the
// facts about chips and LibTorch versions are in candidates.cpp and nowhere
// else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/machine/devices.h"
#include "temper/machine/machine.h"
#include "temper/plan/plan.h"

namespace temper::plan {

// The settings that the config asks for. No value: "auto", the plan decides.
struct Requests {
  std::string device = "auto"; // auto, any, cpu, gpu, mps, cuda, cuda:N, sim
  std::optional<Layout> layout;
  std::optional<Kernels> kernels;
  std::optional<Precision> precision = Precision::fp32;
  std::optional<int> threads;

  // Whether a device of any kind will do.
  bool any_device() const {
    return device == "auto" || device == "any";
  }
  friend bool operator==(const Requests&, const Requests&) = default;
};

Requests requests_of(const config::Config& config);

// The traits of a model and its data that decide which settings make sense.
struct ModelTraits {
  bool images = true; // convolved, so that it matters where channels are
  bool fusable = false; // temper's kernels compute some of its operators
};

struct Candidates {
  std::vector<Setting> settings; // never empty, most promising first
  std::vector<RuledOut> ruled_out;
  // The simplest of what was asked for: what a run gets when all that was
  // measured failed. Without requests it is the reference.
  Setting fallback;
  // The setting that is most likely the fastest: what a run gets that is too
  // short to measure, and what others have to beat. No value: the fallback.
  std::optional<Setting> prior;
  Requests asked;

  const Setting& standard() const {
    return prior ? *prior : fallback;
  }
};

// Error, naming the alternatives, when what is asked for cannot be had on this
// device, chip or version of LibTorch.
Candidates find_candidates(
    const machine::Machine& machine,
    const std::vector<machine::DeviceReport>& devices,
    const Requests& asked,
    const ModelTraits& model = {});

} // namespace temper::plan
