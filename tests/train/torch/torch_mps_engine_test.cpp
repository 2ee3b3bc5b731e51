// The engine on the simulated MPS device: the CPU's numbers, no float64 (the
// device refuses it), nothing read from it until somebody asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "temper/libtorch/sim/sim.h"
#include "tests/complaint.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

const at::Device kMps(at::kMPS, 0);

Sample on_mps(Sample sample) {
  sample.plan.device = kMps;
  return sample;
}

config::Config every_option(const std::string& optimizer) {
  config::Config config;
  config.optimizer.name = optimizer;
  config.optimizer.nesterov = optimizer == "sgd";
  config.train.clip = 0.5;
  config.train.clip_value = 0.2;
  config.train.ema = 0.9;
  config.train.label_smoothing = 0.1;
  config.train.class_weights = {0.5, 1, 3};
  return config;
}

// How far two devices may be apart after a few steps. BatchNorm over the few
// values of ResNet-18's last layers makes much of a different rounding.
double allowed(const std::string& network) {
  return network == "cnn" ? 1e-3 : 1e-2;
}

// Tensor by tensor, not number by number: where a gradient is nothing but
// rounding, Adam and Lion make steps of full size of it.
void expect_near_weights(
    const graph::Weights& a,
    const graph::Weights& b,
    double apart) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    const at::Tensor theirs = model::tensor_of(tensor).to(at::kDouble);
    const at::Tensor ours = model::tensor_of(b.at(name)).to(at::kDouble);
    EXPECT_LE(
        (theirs - ours).norm().item<double>(),
        apart * ours.norm().item<double>() + 1e-6)
        << name;
  }
}

class OptimizersOnMps : public ::testing::TestWithParam<const char*> {};

TEST_P(OptimizersOnMps, TrainsAsOnTheCpu) {
  const config::Config config = every_option(GetParam());
  for (const char* network : {"cnn", "resnet18"}) {
    const Samples samples = images(7, 3, 8);
    const auto far = on_mps(pictures(config, network)).engine();
    const auto near = pictures(config, network).engine();
    EXPECT_EQ(far->facts().device, "mps:0");
    const double apart = allowed(network);
    // Slices of 4 and 3. Each step begins from the same state: the CPU updates
    // with kernels of its own, and a last bit would grow from step to step.
    const auto train = [&](Engine& there, int begin) {
      for (int i = begin; i < begin + 3; ++i) {
        there.restore(near->capture());
        there.step(samples.batch, reported(order(i, 4, 0.003)));
        near->step(samples.batch, reported(order(i, 4, 0.003)));
        expect_near_weights(
            there.capture().tensors, near->capture().tensors, apart);
      }
    };
    train(*far, 0);
    EXPECT_NEAR(far->report().loss, near->report().loss, 1e-4);
    const double norm = near->report().grad_norm;
    EXPECT_NEAR(far->report().grad_norm, norm, apart * norm);
    const MetricSums theirs = far->take_training_sums();
    const MetricSums ours = near->take_training_sums();
    EXPECT_NEAR(theirs.loss, ours.loss, 1e-3);
    EXPECT_EQ(theirs.units, ours.units);
    EXPECT_EQ(theirs.correct, ours.correct);
    far->evaluate(samples.batch);
    near->evaluate(samples.batch);
    const MetricSums seen = far->take_evaluation_sums();
    EXPECT_EQ(seen.samples, 7);
    EXPECT_NEAR(seen.loss, near->take_evaluation_sums().loss, 1e-3);
    // A state goes from one to the other, by way of the CPU.
    const auto resumed = on_mps(pictures(config, network)).engine();
    resumed->restore(near->capture());
    EXPECT_TRUE(same_bits(resumed->capture().tensors, near->capture().tensors));
    train(*resumed, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    OptimizersOnMps,
    ::testing::Values("sgd", "adam", "adamw", "lion"));

TEST(EngineOnMps, ReadsNothingUntilItIsAsked) {
  const auto far = on_mps(pictures(every_option("adamw"), "cnn")).engine();
  const Samples samples = images(7, 3, 8);
  const auto reads = libtorch::sim::counts().syncs;
  const auto copies = libtorch::sim::counts().copies_to;
  for (int i = 0; i < 20; ++i)
    far->step(samples.batch, order(i, 4));
  EXPECT_EQ(libtorch::sim::counts().syncs, reads);
  EXPECT_EQ(libtorch::sim::counts().copies_to, copies + 2 * 20)
      << "inputs and targets once each";
  far->step(samples.batch, reported(order(20)));
  far->report();
  EXPECT_EQ(libtorch::sim::counts().syncs, reads + 1);
  EXPECT_EQ(far->take_training_sums().samples, 21 * 7);
  EXPECT_LE(libtorch::sim::counts().syncs, reads + 2);

  far->evaluate(samples.batch);
  const auto before = libtorch::sim::counts().syncs;
  for (int i = 0; i < 10; ++i)
    far->evaluate(samples.batch);
  EXPECT_EQ(libtorch::sim::counts().syncs, before);
  EXPECT_EQ(far->take_evaluation_sums().samples, 11 * 7);
}

TEST_P(OptimizersOnMps, AnUpdateThatIsNotFiniteChangesNoWeightUntilTold) {
  const auto far = on_mps(table(every_option(GetParam()))).engine();
  Samples samples = rows(8);
  for (int i = 0; i < 3; ++i)
    far->step(samples.batch, order(i));
  const auto before = far->capture();
  const float kept = samples.inputs[3][2].item<float>();
  samples.inputs[3][2] = std::nan("");
  far->step(samples.batch, order(3));
  samples.inputs[3][2] = kept;
  far->step(samples.batch, order(4));
  EXPECT_THAT(
      complaint([&] { far->step(samples.batch, reported(order(5))); }),
      HasSubstr("the loss became nan in update 4 (epoch 1; seen after update "
                "6): no weight was changed by it or since."));
  EXPECT_TRUE(same_bits(before.tensors, far->capture().tensors));
  far->step(samples.batch, reported(order(3)));
  EXPECT_FALSE(same_bits(before.tensors, far->capture().tensors));
}

TEST(EngineOnMps, AStateIsNotSavedBeforeBadNewsAreTold) {
  const auto far = on_mps(table(sgd())).engine();
  Samples samples = rows(8);
  samples.inputs[3][2] = HUGE_VALF;
  far->step(samples.batch, order(0));
  EXPECT_THROW(far->capture(), NotFinite);
  far->step(samples.batch, order(0));
  EXPECT_THROW(far->take_training_sums(), NotFinite);
}

class Weighted : public Task {
 public:
  Weighted(std::shared_ptr<model::Module> model, bool named)
      : Task(std::move(model)) {
    if (named) moves_along("weights", weights_);
  }
  at::Tensor train_step(const TensorBatch& batch) override {
    return at::cross_entropy_loss(
        model().forward({batch.inputs}),
        batch.targets,
        weights_,
        at::Reduction::Sum);
  }

 private:
  at::Tensor weights_ = at::ones({3});
};

class Forgetful final : public Weighted {
 public:
  explicit Forgetful(std::shared_ptr<model::Module> model)
      : Weighted(std::move(model), true) {}
  void to(const at::Device&) override {}
};

std::string trained_with(std::unique_ptr<Task> task) {
  const Samples samples = rows(8);
  return complaint([&] {
    on_mps(table(sgd()))
        .engine(std::move(task))
        ->step(samples.batch, reported(order(0)));
  });
}

TEST(EngineOnMps, ATensorLeftOnTheCpuIsNamedWithTheWayOut) {
  const auto module = [] { return table(sgd()).module(); };
  EXPECT_EQ(trained_with(std::make_unique<Weighted>(module(), true)), "");
  EXPECT_THAT(
      trained_with(std::make_unique<Weighted>(module(), false)),
      AllOf(
          HasSubstr("[train] train_step mixes devices: batch.inputs is float32 "
                    "[8, 6] on mps:0, batch.targets int64 [8] on mps:0, the "
                    "model float32 on mps:0; a tensor of its own is on cpu"),
          HasSubstr(".to(batch.inputs.device()), or name it with "
                    "moves_along()")));
  EXPECT_THAT(
      trained_with(std::make_unique<Forgetful>(module())),
      AllOf(
          HasSubstr("mixes devices: weights is on cpu, and the model on mps:0"),
          HasSubstr("Call Task::to()")));
  EXPECT_THAT(
      trained_with(std::make_unique<OwnTask>(
          module(),
          [](Task& task, const TensorBatch& batch) {
            return task.model().forward({batch.inputs}).to(at::kCPU).sum();
          })),
      HasSubstr("loss cannot be used: it is float32 [] on cpu, and the model "
                "is on mps:0: move it there with .to(batch.inputs.device())"));
}

TEST(EngineOnMps, Float64InATrainStepIsRefusedByName) {
  EXPECT_THAT(
      trained_with(std::make_unique<OwnTask>(
          table(sgd()).module(),
          [](Task& task, const TensorBatch& batch) {
            const at::Tensor out = task.model().forward({batch.inputs});
            return out.to(at::kDouble).sum();
          })),
      AllOf(
          HasSubstr("[train] train_step mixes types"),
          HasSubstr("a tensor of its own is float64"),
          HasSubstr(".to(at::kFloat)")));
}

} // namespace
} // namespace temper::train
