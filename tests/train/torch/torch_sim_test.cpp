// Training on the simulated device: the CPU's bits, the gate that finds wrong
// numbers, and whether a model fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/libtorch/torch/device_name.h"
#include "temper/machine/probe.h"
#include "temper/train/calibrate/calibration.h"
#include "temper/train/forecast/sim_fit.h"

namespace temper::train {
namespace {

using testing::HasSubstr;
namespace sim = libtorch::sim;

class TrainingOnSim : public ::testing::Test {
 protected:
  TrainingOnSim() {
    // Before the first backward pass: LibTorch looks for devices only then.
    sim::install();
    sim::set_rules({});
  }
  ~TrainingOnSim() override {
    sim::set_rules({});
  }
};

Sample on_sim(Sample sample) {
  sample.plan.device = libtorch::device_of("sim");
  return sample;
}

// All but the update, which the CPU computes in kernels of its own: the last
// bit of a weight may differ.
TEST_F(TrainingOnSim, GivesTheBitsOfTheCpu) {
  for (const char* optimizer : {"sgd", "adamw"})
    for (const char* network : {"cnn", "resnet18"}) {
      config::Config config;
      config.optimizer.name = optimizer;
      const Samples samples = images(7, 3, 8);
      const auto far = on_sim(pictures(config, network)).engine();
      const auto near = pictures(config, network).engine();
      EXPECT_EQ(far->facts().device, "sim");
      for (int i = 0; i < 3; ++i) {
        far->step(samples.batch, reported(order(i, 4, 0.01)));
        near->step(samples.batch, reported(order(i, 4, 0.01)));
        EXPECT_EQ(far->report().loss, near->report().loss);
        EXPECT_TRUE(same_bits(far->gradients(), near->gradients()))
            << optimizer << " " << network;
        EXPECT_LE(distance(far->weights(), near->weights()), 1e-6);
        far->restore(near->capture());
      }
    }
}

TEST_F(TrainingOnSim, TellsHowManySamplesFitAtOnce) {
  const Samples samples = images(16, 3, 8);
  const auto engine = on_sim(pictures(sgd(), "cnn")).engine();
  const auto limited = [&](std::uint64_t bytes) {
    sim::Rules rules;
    rules.memory_bytes = bytes;
    sim::set_rules(rules);
    return fit_on_sim(*engine, samples.batch, bytes);
  };
  const SimFit all = limited(0);
  ASSERT_TRUE(all.best());
  EXPECT_EQ(all.best()->samples, 16);
  EXPECT_THAT(to_text(all), HasSubstr("all 16 samples of a batch at once"));
  const std::uint64_t whole = all.best()->peak_bytes;
  EXPECT_EQ(limited(whole).best()->samples, 16);
  const SimFit some = limited(whole - 1); // to the byte
  ASSERT_TRUE(some.best());
  EXPECT_EQ(some.best()->samples, 8);
  EXPECT_LT(some.best()->peak_bytes, whole);
  EXPECT_THAT(
      to_text(some), HasSubstr("memory.micro_batch = 8: 2 slices of a batch"));
  EXPECT_EQ(limited(some.best()->peak_bytes - 1).best()->samples, 4);
  const SimFit none = limited(sim::counts().live_bytes + 1);
  EXPECT_FALSE(none.best());
  EXPECT_THAT(to_text(none), HasSubstr("not even one sample"));
}

TEST_F(TrainingOnSim, WrongNumbersAreFoundByTheGateAndNamed) {
  config::Config config;
  config.device = "sim";
  config.data.source = "synthetic:images=32,size=8,classes=4";
  config.model.name = "cnn";
  config.model.width = 0.125;
  config.model.dropout = 0;
  config.train.batch = 8;
  config.threads = 1;
  const RunData data = open_data(config, {}, std::uint64_t{1} << 30);
  const RunModel model = choose_model(config, data);
  const machine::Machine machine = machine::probe(".");
  const auto parity = [&](const std::string& fault) {
    const auto rig = make_rig(
        {config, machine, model, data, make_engine, "test", {}, 1, {}}, {});
    const auto trial =
        rig->open({"sim", plan::Layout::contiguous, 1, plan::Precision::fp32});
    sim::Rules rules;
    rules.fault = fault;
    sim::set_rules(rules);
    return trial->parity();
  };
  EXPECT_TRUE(parity("").agrees);
  const plan::Parity wrong = parity("aten::convolution_backward:1e-2");
  EXPECT_FALSE(wrong.agrees);
  EXPECT_THAT(wrong.parameter, HasSubstr("weight"));
  EXPECT_GT(wrong.difference, wrong.allowed);
}

} // namespace
} // namespace temper::train
