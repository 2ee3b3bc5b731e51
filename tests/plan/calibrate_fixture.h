// Tests of calibration: settings with made-up times, measured on a made-up
// clock.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "temper/plan/calibrate.h"
#include "tests/plan/fake_rig.h"

namespace temper::plan {

inline const Setting kReference{"cpu", Layout::contiguous, 4, Precision::fp32};
inline const Setting kOneThread{"cpu", Layout::contiguous, 1, Precision::fp32};
inline const Setting kLast{"cpu", Layout::channels_last, 4, Precision::fp32};
inline const Setting kMps{"mps", Layout::contiguous, 4, Precision::fp32};
inline const Setting kCudaSetting{
    "cuda:0",
    Layout::contiguous,
    4,
    Precision::fp32};
inline const Setting kHalf{"cpu", Layout::contiguous, 4, Precision::bf16};

class Calibrate : public testing::Test {
 protected:
  void add(const Setting& setting, const fakes::Behaviour& behaviour) {
    candidates_.settings.push_back(setting);
    rig_->behaviours[to_text(setting)] = behaviour;
  }
  Plan measured(double seconds = 10) {
    candidates_.fallback = kReference;
    CalibrateOptions options;
    options.seconds = seconds;
    options.now = [clock = rig_->clock] { return clock->now(); };
    options.wait = fakes::wait_or_hang(rig_->clock, rig_->gate);
    options.run_steps = run_steps_;
    options.load = load_;
    const double before_s = rig_->clock->now();
    Plan plan = calibrate(candidates_, rig_, options);
    took_s_ = rig_->clock->now() - before_s;
    return plan;
  }
  static Tried tried(const Plan& plan, const Setting& setting) {
    for (const Tried& each : plan.tried)
      if (each.setting == setting) return each;
    ADD_FAILURE() << to_text(setting) << " is not in the plan";
    return {};
  }

  std::shared_ptr<fakes::FakeRig> rig_ = std::make_shared<fakes::FakeRig>();
  Candidates candidates_;
  std::optional<std::int64_t> run_steps_;
  std::function<std::optional<machine::Load>()> load_;
  double took_s_ = 0; // on the rig's clock
};

} // namespace temper::plan
