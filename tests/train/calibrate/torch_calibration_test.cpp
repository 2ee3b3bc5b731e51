// The plan of a run, measured with real steps on LibTorch.
#include <gtest/gtest.h>

#include <cstring>

#include "temper/libtorch/facts.h"
#include "temper/machine/probe.h"
#include "temper/train/calibrate/calibration.h"
#include "tests/half_precision.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

class Calibration : public ::testing::Test {
 protected:
  Calibration() {
    config_.device = "cpu";
    config_.data.source = "synthetic:images=64,size=16,classes=4";
    config_.model.name = "resnet18";
    config_.model.stem = "cifar";
    config_.model.width = 0.25;
    config_.train.batch = 16;
    config_.train.clip = 1;
    config_.plan.seconds = 5;
    config_.layout = "auto";
    // On a busy machine two threads may take forever for tiny steps.
    config_.threads = 1;
  }

  PlanRequest request() {
    data_ = open_data(config_, {}, std::uint64_t{1} << 30);
    model_ = choose_model(config_, data_);
    return {
        config_,
        machine_,
        model_,
        data_,
        make_,
        "test",
        {{"TEMPER_CACHE_DIR", folder_.text("cache")}},
        1'000'000,
        {},
        // Whatever else runs here: alone, as far as the plan knows.
        [] { return machine::Load{.cores = 2, .usable = 2}; }};
  }

  std::shared_ptr<plan::Rig> rig() {
    const PlanRequest asked = request();
    return make_rig(asked, settings_of(asked));
  }

  tests::TempFolder folder_;
  config::Config config_;
  machine::Machine machine_ = machine::probe(".");
  RunData data_;
  RunModel model_;
  MakeEngine make_ = make_engine;
};

TEST_F(Calibration, MeasuresRealStepsAndRemembersThem) {
  const plan::Plan first = plan_settings(request());
  EXPECT_FALSE(first.remembered);
  ASSERT_FALSE(first.tried.empty());
  EXPECT_TRUE(first.tried.front().step_s);
  EXPECT_EQ(first.tried.front().verdict, plan::TrialVerdict::chosen);
  EXPECT_FALSE(first.layout.reason.empty());
  const plan::Plan second = plan_settings(request());
  EXPECT_TRUE(second.remembered);
  EXPECT_EQ(second.setting(), first.setting());
}

TEST_F(Calibration, LeavesADeterministicRunToItsConfig) {
  config_.deterministic = true;
  const plan::Plan plan = plan_settings(request());
  for (const plan::Tried& each : plan.tried)
    EXPECT_FALSE(each.step_s) << plan::to_text(each.setting);
  EXPECT_EQ(plan.kernels.value, "fused");
  EXPECT_NE(plan.kernels.reason.find("deterministic"), std::string::npos)
      << plan.kernels.reason;
  config_.kernels = "stock";
  const plan::Plan stock = plan_settings(request());
  EXPECT_EQ(stock.kernels.value, "stock");
  EXPECT_EQ(stock.setting().layout, plan::Layout::contiguous);
}

// The frozen part is most of the work: its layout matters as much.
TEST_F(Calibration, MeasuresARunWithAFrozenPart) {
  config_.model.freeze = {"backbone"};
  const plan::Plan plan = plan_settings(request());
  ASSERT_FALSE(plan.tried.empty());
  EXPECT_TRUE(plan.tried.front().step_s) << plan.tried.front().why;
  const auto parity =
      rig()
          ->open({"cpu", plan::Layout::channels_last, 1, plan::Precision::fp32})
          ->parity();
  EXPECT_TRUE(parity.agrees) << parity.parameter;
}

TEST_F(Calibration, AStepThatTakesLongIsMeasuredOnAPartOfABatch) {
  const auto note = [&] {
    const auto made = rig();
    made->open({"cpu", plan::Layout::contiguous, 1, plan::Precision::fp32});
    return made->note();
  };
  config_.plan.seconds = 3600;
  EXPECT_EQ(note(), "");
  config_.plan.seconds = 1e-3;
  EXPECT_EQ(
      note(),
      "a step of this model takes long: 4 of the 16 samples of a batch were "
      "measured; plan.seconds allows more");
}

// At their beginning deep networks with BatchNorm train on what bf16 rounds
// away, and the gate says so; a plain one passes.
TEST_F(Calibration, EverySettingOfTheCpuPassesTheGate) {
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  const auto deep = rig();
  EXPECT_TRUE(
      deep->open({"cpu", plan::Layout::channels_last, 1, plan::Precision::fp32})
          ->parity()
          .agrees);
  EXPECT_FALSE(
      deep->open({"cpu", plan::Layout::contiguous, 1, plan::Precision::bf16})
          ->parity()
          .agrees);
  config_.model.name = "cnn";
  config_.model.stem = "";
  const auto made = rig();
  for (const auto layout :
       {plan::Layout::contiguous, plan::Layout::channels_last})
    for (const auto precision :
         {plan::Precision::fp32, plan::Precision::bf16}) {
      const auto parity = made->open({"cpu", layout, 1, precision})->parity();
      EXPECT_TRUE(parity.agrees)
          << config::to_text(layout) << " " << config::to_text(precision)
          << ": " << parity.parameter << " off by " << parity.difference
          << " of " << parity.allowed;
    }
}

// A task that is right in float32 and wrong with the channels last.
TEST_F(Calibration, ASettingWithOtherGradientsIsRejectedByName) {
  class Wrong final : public Engine {
   public:
    explicit Wrong(std::unique_ptr<Engine> right) : right_(std::move(right)) {}
    EngineFacts facts() const override {
      return right_->facts();
    }
    bool step(const data::HostBatch& batch, const StepOrder& order) override {
      return right_->step(batch, order);
    }
    StepReport report() override {
      return right_->report();
    }
    MetricSums take_training_sums() override {
      return right_->take_training_sums();
    }
    graph::Weights gradients() override {
      auto all = right_->gradients();
      all["conv1.weight"] =
          graph::make_tensor(
              graph::DType::kFloat32, all.at("conv1.weight").sizes)
              .data;
      return all;
    }
    void evaluate(const data::HostBatch& batch) override {
      right_->evaluate(batch);
    }
    MetricSums take_evaluation_sums() override {
      return right_->take_evaluation_sums();
    }
    EngineState capture() override {
      return right_->capture();
    }
    void restore(const EngineState& state) override {
      right_->restore(state);
    }
    graph::Weights weights() override {
      return right_->weights();
    }

   private:
    std::unique_ptr<Engine> right_;
  };
  make_ = [](const EngineRequest& asked) -> std::unique_ptr<Engine> {
    auto right = make_engine(asked);
    if (!asked.channels_last) return right;
    return std::make_unique<Wrong>(std::move(right));
  };
  const auto made = rig();
  const auto parity =
      made->open({"cpu", plan::Layout::channels_last, 1, plan::Precision::fp32})
          ->parity();
  EXPECT_FALSE(parity.agrees);
  EXPECT_EQ(parity.parameter, "conv1.weight");
  const plan::Plan plan = plan_settings(request());
  EXPECT_EQ(plan.setting().layout, plan::Layout::contiguous);
}

// Bit for bit what a run with the same settings and no measuring computes.
TEST_F(Calibration, LeavesNoTrace) {
  const auto trained = [&](bool measure) {
    PlanRequest asked = request();
    if (measure) plan_settings(asked);
    libtorch::set_threads(1, 1);
    const auto engine = make_({config_, model_, data_, "cpu", {}, {}});
    auto batches = train_batches(data_, config_, {});
    batches->start(0);
    for (int i = 0; i < 3; ++i) {
      StepOrder order;
      order.update = i;
      order.lr = 0.1;
      engine->step(*batches->next(), order);
    }
    return engine->capture();
  };
  const EngineState without = trained(false);
  const EngineState with = trained(true);
  ASSERT_EQ(with.tensors.size(), without.tensors.size());
  for (const auto& [name, tensor] : with.tensors)
    EXPECT_EQ(
        std::memcmp(
            tensor.bytes.get(),
            without.tensors.at(name).bytes.get(),
            tensor.byte_count),
        0)
        << name;
}

} // namespace
} // namespace temper::train
