// The plan of a run: which device, layout, threads and precision are fastest
// for this model and a real batch of this data, by running real steps on
// scratch copies of the state. Leaves no trace in the run that follows. No
// torch: the steps are an Engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "temper/base/environment.h"
#include "temper/machine/machine.h"
#include "temper/plan/decide.h"
#include "temper/train/engine/make_engine.h"

namespace temper::train {

// Bytes of tensors: those that stay between steps, and the most in a step.
struct SettingBytes {
  std::uint64_t state = 0;
  std::uint64_t peak = 0; // 0: not known
};

struct PlanRequest {
  const config::Config& config;
  const machine::Machine& machine;
  const RunModel& model;
  const RunData& data;
  const MakeEngine& make_engine;
  std::string version; // of temper
  Environment environment; // says where plans are remembered
  std::optional<std::int64_t> run_steps; // no value: not known
  std::function<void(const std::string&)> progress; // may throw to give up
  // How busy the machine is; null: nobody looks.
  std::function<std::optional<machine::Load>()> load = {};
  plan::Measuring measuring = {};
  // The bytes of a step of so many samples in a setting; null: nobody can tell.
  std::function<SettingBytes(const plan::Setting&, int samples)> bytes_of = {};
  // Whether all samples of a batch can be computed at once in a setting; null:
  // in every one.
  std::function<bool(const plan::Setting&)> fits = {};
};

// The settings that such a run may get; the likely one first.
plan::Candidates settings_of(const PlanRequest& request);

plan::Plan plan_settings(const PlanRequest& request);

// Where the plan of such a run is remembered. A cache without a folder where it
// is not.
struct PlanMemory {
  plan::PlanCache cache{std::filesystem::path()};
  plan::PlanKey key;
};
PlanMemory plan_memory(const PlanRequest& request);

// How the loader lays batches out for a setting.
InputFormat layout_for(
    const plan::Setting& setting,
    const config::Config& config);

// The peak of tensors in a step of so many samples, on a scratch engine: for
// models that are no graph. Null where there is no batch to take them from.
std::function<std::uint64_t(int)> peak_of_steps(
    const PlanRequest& request,
    const plan::Setting& setting);

// The scratch runs that plan_settings times. Together they take about as much
// memory as the run will with the setting it is likely to get.
std::shared_ptr<plan::Rig> make_rig(
    const PlanRequest& request,
    const plan::Candidates& candidates);

} // namespace temper::train
