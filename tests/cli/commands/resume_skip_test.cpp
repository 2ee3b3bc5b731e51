// A run whose gradients overflow fp16 now and then, stopped right after such a
// step and resumed: the loss scale and its count are part of the state.
//
// `temper train` has no fp16 on a CPU or on the simulated device, so this is
// the run below the command, with an engine that scales its loss in fp32
// ("scaled": everything of fp16 but the type).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "tests/cli/small_runs.h"

namespace temper {
namespace {

using tests::run_until;
using tests::SmallRun;

// Of every epoch the first batch and a later one are too much for the scale.
class Overflowing final : public train::Engine {
 public:
  explicit Overflowing(std::unique_ptr<train::Engine> engine)
      : engine_(std::move(engine)) {}

  bool step(const data::HostBatch& batch, const train::StepOrder& order)
      override {
    if (batch.number != 0 && batch.number != 4)
      return engine_->step(batch, order);
    EXPECT_EQ(batch.element, data::Element::f32);
    std::size_t count = static_cast<std::size_t>(batch.size);
    for (const std::int64_t size : batch.shape)
      count *= static_cast<std::size_t>(size);
    inputs_.assign(count, std::numeric_limits<float>::infinity());
    data::HostBatch large = batch;
    large.inputs = inputs_.data();
    return engine_->step(large, order);
  }

  train::EngineFacts facts() const override {
    return engine_->facts();
  }
  train::StepReport report() override {
    return engine_->report();
  }
  train::MetricSums take_training_sums() override {
    return engine_->take_training_sums();
  }
  void evaluate(const data::HostBatch& batch) override {
    engine_->evaluate(batch);
  }
  train::MetricSums take_evaluation_sums() override {
    return engine_->take_evaluation_sums();
  }
  train::EngineState capture() override {
    return engine_->capture();
  }
  void restore(const train::EngineState& state) override {
    engine_->restore(state);
  }
  graph::Weights weights() override {
    return engine_->weights();
  }

 private:
  std::unique_ptr<train::Engine> engine_;
  std::vector<float> inputs_;
};

train::RunRequest scaled(const SmallRun& run) {
  train::RunRequest request = run.request();
  request.factories.make_engine = [](const train::EngineRequest& asked) {
    train::EngineRequest wanted = asked;
    wanted.precision = config::Precision::scaled;
    return std::make_unique<Overflowing>(train::make_engine(wanted));
  };
  return request;
}

struct Scale {
  float scale = 0;
  float good_steps = 0;
};

Scale scale_of(const SmallRun& run) {
  Scale found;
  const auto newest = run.checkpoints().load_latest();
  if (!newest) return found;
  const auto& tensor = newest->tensors.at("scaler.state");
  std::memcpy(&found, tensor.bytes.get(), sizeof found);
  return found;
}

// The n-th overflow is the last that happens before the run is stopped.
std::function<bool(const journal::Event&)> after_overflow(int n) {
  return [n, seen = 0](const journal::Event& event) mutable {
    if (event.kind == "incident" && event.text("what") == "overflow") ++seen;
    return seen >= n;
  };
}

TEST(ResumeAfterSkip, TheLossScaleGoesOnWhereItWas) {
  const tests::TempFolder folder;
  int cases = 0;
  for (const tests::Network& network : tests::networks(folder)) {
    if (network.name == "gpt_tiny") continue; // no number is large in a text
    SCOPED_TRACE(network.name);
    const SmallRun whole{folder, "whole-" + network.name, network.keys};
    run_until(scaled(whole), [](const auto&) { return false; });
    ASSERT_EQ(whole.incidents(), 6U);
    ASSERT_EQ(scale_of(whole).scale, 65536 / 64);
    const auto steps = static_cast<float>(whole.events("step").size() / 3 + 2);
    // The first of all, when there is no update yet; in the middle of an epoch;
    // the first of an epoch.
    for (const int n : {1, 2, 5}) {
      SCOPED_TRACE(n);
      const SmallRun run{folder, cat(network.name, n), network.keys};
      const auto outcome = run_until(scaled(run), after_overflow(n));
      ASSERT_EQ(outcome.ending, train::Ending::kStopped);
      EXPECT_EQ(scale_of(run).scale, 65536 / (1 << n));
      EXPECT_EQ(scale_of(run).good_steps, 0);
      EXPECT_EQ(run.checkpoints().load_latest()->update == 0, n == 1);
      train::RunRequest rest = scaled(run);
      rest.resume = run.directory().path;
      run_until(rest, [](const auto&) { return false; });
      EXPECT_EQ(scale_of(run).good_steps, steps - 5);
      run.expect_same_as(whole);
      ++cases;
    }
  }
  RecordProperty("cases", cases);
}

} // namespace
} // namespace temper
