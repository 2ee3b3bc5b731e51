// What an engine refuses, in which words, and that weights stay as they were.
#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_samples.h"
#include "tests/complaint.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

// A step on a table with this train_step.
std::string own(const OwnTask::Step& step) {
  const Sample sample = table(sgd());
  const Samples samples = rows(8);
  return complaint([&] {
    sample.engine(std::make_unique<OwnTask>(sample.module(), step))
        ->step(samples.batch, order(0));
  });
}

TEST(Refusals, ALossThatIsNotFiniteChangesNoWeight) {
  config::Config config;
  config.train.ema = 0.9;
  const auto trained = table(config).engine();
  Samples samples = rows(8);
  trained->step(samples.batch, order(0));
  const auto before = trained->capture();
  samples.inputs[3][2] = std::nan("");
  EXPECT_THROW(trained->step(samples.batch, order(1)), NotFinite);
  EXPECT_THAT(
      complaint([&] { trained->step(samples.batch, order(1)); }),
      AllOf(
          HasSubstr("the loss became nan in update 2 (epoch 1): no weight was "
                    "changed by it."),
          HasSubstr("Lower optimizer.lr")));
  EXPECT_TRUE(same_bits(before.tensors, trained->capture().tensors));
}

TEST(Refusals, AGradientThatIsNotFiniteChangesNoWeight) {
  const Sample sample = table(sgd());
  // Finite, and infinitely steep.
  const auto trained = sample.engine(std::make_unique<OwnTask>(
      sample.module(), [](Task& task, const TensorBatch& batch) {
        const at::Tensor out = task.model().forward({batch.inputs});
        return out.sub(out.detach()).abs().pow(0.5).sum();
      }));
  const Samples samples = rows(8);
  const auto before = trained->capture();
  EXPECT_THAT(
      complaint([&] { trained->step(samples.batch, order(0)); }),
      HasSubstr("the gradient became nan in update 1"));
  EXPECT_TRUE(same_bits(before.tensors, trained->capture().tensors));
}

TEST(Refusals, ALabelOutOfRangeIsNamedWithItsSample) {
  const auto trained = table(sgd()).engine();
  for (const std::int64_t label : {3, -1}) {
    Samples samples = rows(8);
    samples.labels[5] = label;
    const auto expected = AllOf(
        HasSubstr("sample 5 has the label " + std::to_string(label)),
        HasSubstr("3 outputs: 0 to 2"),
        HasSubstr("Set model.classes"));
    EXPECT_THAT(
        complaint([&] { trained->step(samples.batch, order(0)); }), expected);
    EXPECT_THAT(complaint([&] { trained->evaluate(samples.batch); }), expected);
  }
}

TEST(Refusals, ImagesWithOtherChannelsThanTheModels) {
  const auto trained = pictures(sgd(), "cnn").engine();
  const Samples samples = images(4, 1, 8);
  EXPECT_THAT(
      complaint([&] { trained->step(samples.batch, order(0)); }),
      AllOf(
          HasSubstr("is expected as float32 ["),
          HasSubstr("3, 8, 8], given as float32 [4, 1, 8, 8]")));
}

TEST(Refusals, OneSampleIsTooFewForBatchNorm) {
  const auto trained = pictures(sgd(), "resnet18").engine();
  const Samples one = images(1, 3, 8);
  EXPECT_THAT(
      complaint([&] { trained->step(one.batch, order(0)); }),
      AllOf(
          HasSubstr("[train] BatchNorm cannot learn from one value a channel: "
                    "a batch has 1 sample"),
          HasSubstr("layer4.0.bn1"),
          HasSubstr("Set train.drop_last = true, or another train.batch.")));
  EXPECT_THAT(
      complaint([&] { trained->step(images(5, 3, 8).batch, order(0, 4)); }),
      AllOf(
          HasSubstr("a slice has 1 sample"),
          HasSubstr("Set memory.micro_batch")));
  for (const auto& [name, tensor] : trained->capture().tensors)
    EXPECT_TRUE(model::tensor_of(tensor).isfinite().all().item<bool>()) << name;
  // Validation uses what was learned, and takes one sample too.
  trained->evaluate(one.batch);
  EXPECT_EQ(trained->take_evaluation_sums().samples, 1);
}

TEST(Refusals, ACheckpointOfAnotherModel) {
  const auto trained = table(sgd()).engine();
  EngineState state = trained->capture();
  const auto before = trained->capture();
  state.tensors.at("model.hidden.0.weight").sizes = {1};
  EXPECT_THAT(
      complaint([&] { trained->restore(state); }),
      HasSubstr("the checkpoint's model.hidden.0.weight is float32 [1], and "
                "the model's is float32 [8, 6]"));
  EXPECT_THAT(
      complaint([&] { trained->restore({}); }),
      HasSubstr("the checkpoint has no model.hidden.0.weight"));
  EXPECT_TRUE(same_bits(before.tensors, trained->capture().tensors));
}

TEST(Refusals, ATensorOfAnotherTypeInATrainStep) {
  EXPECT_THAT(
      own([](Task& task, const TensorBatch& batch) {
        const at::Tensor out = task.model().forward({batch.inputs});
        return at::mm(out, at::ones({3, 3}, at::kDouble)).sum();
      }),
      AllOf(
          HasSubstr("[train] train_step mixes types: batch.inputs is float32 "
                    "[8, 6] on cpu, batch.targets int64 [8] on cpu, the model "
                    "float32 on cpu"),
          HasSubstr("Convert it with .to(at::kFloat).")));
  EXPECT_THAT(
      own([](Task& task, const TensorBatch& batch) {
        const at::Tensor out = task.model().forward({batch.inputs});
        return at::nll_loss(out, batch.targets.to(at::kFloat));
      }),
      HasSubstr("[train] train_step mixes types"));
  EXPECT_THAT(
      own([](Task& task, const TensorBatch& batch) {
        const at::Tensor out = task.model().forward({batch.inputs});
        return out.mul(at::ones({8, 3}, at::kDouble)).sum();
      }),
      AllOf(
          HasSubstr("train_step's loss cannot be used: it is float64 [] on "
                    "cpu, and the model is float32"),
          HasSubstr(".to(at::kFloat)")));
}

TEST(Refusals, ACompanionOfAnotherTypeIsNamed) {
  class Weighted final : public Task {
   public:
    explicit Weighted(std::shared_ptr<model::Module> model)
        : Task(std::move(model)) {
      moves_along("scales", scales_);
    }
    at::Tensor train_step(const TensorBatch& batch) override {
      return at::mm(model().forward({batch.inputs}), scales_).sum();
    }

   private:
    at::Tensor scales_ = at::ones({3, 3}, at::kDouble);
  };
  const Sample sample = table(sgd());
  const Samples samples = rows(8);
  EXPECT_THAT(
      complaint([&] {
        sample.engine(std::make_unique<Weighted>(sample.module()))
            ->step(samples.batch, order(0));
      }),
      HasSubstr("mixes types: scales is float64, and the model float32"));
}

TEST(Refusals, WhatIsNoLoss) {
  EXPECT_THAT(
      own([](Task&, const TensorBatch&) { return at::Tensor(); }),
      HasSubstr("train_step's loss cannot be used: it is no tensor."));
  EXPECT_THAT(
      own([](Task& task, const TensorBatch& batch) {
        return task.model().forward({batch.inputs});
      }),
      HasSubstr("it is float32 [8, 3] on cpu, and a loss is one number"));
  EXPECT_THAT(
      own([](Task&, const TensorBatch& batch) { return batch.inputs.sum(); }),
      HasSubstr("no gradient leads through it: compute it with model()"));
}

TEST(Refusals, AnythingElseLibtorchSaysIsPassedOnInOneSentence) {
  EXPECT_THAT(
      own([](Task& task, const TensorBatch& batch) {
        const at::Tensor out = task.model().forward({batch.inputs});
        return out.narrow(0, 5, 10).sum();
      }),
      AllOf(
          HasSubstr("[train] train_step failed: start (5) + length (10) "
                    "exceeds dimension size (8)."),
          HasSubstr("It was given: batch.inputs is float32 [8, 6] on cpu")));
}

TEST(Refusals, AKernelThatIsNotDeterministicWhenAllMustBe) {
  const bool before = at::globalContext().deterministicAlgorithms();
  at::globalContext().setDeterministicAlgorithms(true, false);
  const std::string said = own([](Task& task, const TensorBatch& batch) {
    at::Tensor kept = at::zeros({8});
    kept.put_(batch.targets, at::ones({8}));
    return task.model().forward({batch.inputs}).mul(kept.sum()).sum();
  });
  at::globalContext().setDeterministicAlgorithms(before, false);
  EXPECT_THAT(
      said,
      AllOf(
          HasSubstr("[train] deterministic = true, and LibTorch has no "
                    "deterministic way to do this on cpu (put_ does not have "
                    "a deterministic implementation)."),
          HasSubstr("Set deterministic = false")));
}

} // namespace
} // namespace temper::train
