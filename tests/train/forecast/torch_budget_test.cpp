// Runs within a budget of memory, from config to journal, on LibTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <ATen/ATen.h>

#include <cmath>
#include <cstdlib>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/machine/probe.h"
#include "temper/memory/cpu_allocator.h"
#include "temper/model/export/export.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/loop/attempt.h"
#include "temper/train/run/run.h"
#include "tests/temp_folder.h"
#include "tests/train/run/observers.h"

namespace temper::train {
namespace {

using testing::HasSubstr;

struct Told {
  std::vector<double> losses;
  std::vector<std::int64_t> at_once;
  std::int64_t samples = 0; // of the first epoch
  std::vector<std::string> kinds;
  journal::Event forecast;
  journal::Event check;
};

// MobileNetV2 on made-up images.
class Budgets : public ::testing::Test {
 protected:
  Budgets() {
    ::setenv("TEMPER_CACHE_DIR", folder_.text("cache").c_str(), 1);
    config_.device = "cpu";
    config_.threads = 1;
    config_.layout = "contiguous";
    config_.precision = "fp32";
    config_.run.dir = folder_.text("runs");
    config_.data.source = "synthetic:images=48,size=32,classes=4";
    config_.data.augment = "none";
    config_.data.val_fraction = 0;
    config_.model.name = "mobilenet_v2";
    config_.model.width = 0.25;
    config_.model.dropout = 0;
    config_.train.epochs = 1;
    config_.train.batch = 16;
    config_.train.log_every = 1;
    config_.optimizer.name = "sgd";
    config_.optimizer.lr = 0.01;
    config_.loader.workers = 1;
  }
  ~Budgets() override {
    memory::limit_cpu(0);
    ::unsetenv("TEMPER_CACHE_DIR");
  }

  RunRequest request() const {
    static const machine::Machine here = machine::probe(".");
    RunRequest made;
    made.config = config_;
    made.machine = here;
    return made;
  }
  Told run() const {
    Told told;
    const RunResult result = train::run(request());
    for (const auto& event :
         journal::read_journal(result.directory.journal())) {
      told.kinds.push_back(event.kind);
      if (event.kind == "step") {
        told.losses.push_back(*event.number("loss"));
        told.at_once.push_back(*event.count("micro_batch"));
      }
      if (event.kind == "epoch") told.samples += *event.count("samples");
      if (event.kind == "forecast") told.forecast = event;
      if (event.kind == "forecast_check") told.check = event;
    }
    return told;
  }
  // Large enough that a group's variance is not that of two equal values,
  // which turns rounding into another loss.
  void use_groups() {
    config_.data.source = "synthetic:images=96,size=64,classes=4";
    config_.train.batch = 32;
    config_.optimizer.lr = 1e-4;
    config_.model.bn_group = 4;
  }
  // How far rounding alone moves each loss: the same run with sums in another
  // order, that of LibTorch's operators, which changes nothing else. A run with
  // fewer samples at once is one more draw of it.
  std::vector<double> rounding(const Told& whole) {
    constexpr double kDraws = 10;
    constexpr double kFloat = 1.2e-7; // of a loss near 1
    config_.kernels = "stock";
    const Told other = run();
    config_.kernels = "auto";
    std::vector<double> allowed;
    double most = 10 * kFloat;
    for (std::size_t i = 0; i < whole.losses.size(); ++i) {
      most = std::max(most, std::abs(other.losses.at(i) - whole.losses[i]));
      allowed.push_back(kDraws * most);
    }
    // Another batch's loss is further away than that.
    EXPECT_LT(allowed.back(), 1e-2) << "the losses compare nothing";
    return allowed;
  }
  // Of a run whose whole batch is computed at once.
  std::uint64_t whole_bytes() const {
    return plan_run(request()).forecast.whole_bytes;
  }

  tests::TempFolder folder_;
  config::Config config_;
};

TEST_F(Budgets, WithRoomTheWholeBatchIsComputedAtOnce) {
  const Told told = run();
  EXPECT_EQ(told.at_once, (std::vector<std::int64_t>{16, 16, 16}));
  EXPECT_EQ(told.forecast.count("at_once"), 16);
}

TEST_F(Budgets, TheForecastIsHeldAgainstTheFirstEpoch) {
  for (const char* kernels : {"fused", "stock"}) {
    config_.kernels = kernels;
    const Told told = run();
    ASSERT_EQ(told.check.kind, "forecast_check");
    EXPECT_LE(std::abs(*told.check.number("error")), 0.05)
        << kernels << ": " << *told.check.count("forecast_bytes") << " "
        << *told.check.count("measured_bytes");
  }
}

// Kernels that keep less come before smaller slices of the batch.
TEST_F(Budgets, FusedKernelsAreUsedBeforeABatchIsCut) {
  config_.data.source = "synthetic:images=96,size=64,classes=4";
  config_.train.batch = 32;
  config_.layout = "auto";
  const auto whole = [&](const char* kernels) {
    config_.kernels = kernels;
    return whole_bytes();
  };
  const std::uint64_t fused = whole("fused");
  const std::uint64_t stock = whole("stock");
  ASSERT_LT(fused, stock * 3 / 4);
  config_.memory.budget.bytes = (fused + stock) / 2;
  EXPECT_LT(plan_run(request()).forecast.at_once, 32);
  config_.kernels = "auto";
  const RunOverview overview = plan_run(request());
  EXPECT_EQ(overview.forecast.at_once, 32);
  EXPECT_EQ(overview.settings.kernels.value, "fused");
}

// Settings are compared, and gradients with float64's, in no more memory than
// the run takes itself; LibTorch's operators take twice as much. So are the
// steps that tell how much of a batch there is time for.
class PlanningMemory : public Budgets {
 protected:
  void holds(int size, int batch, double seconds) {
    config_.data.source =
        cat("synthetic:images=6400,size=", size, ",classes=4");
    config_.model.width = 0.5;
    config_.train.batch = batch;
    config_.train.max_steps = 100;
    config_.layout = "auto";
    config_.plan.seconds = seconds;
    memory::install_cpu_allocator();
    memory::trim_cpu_pool();
    const std::uint64_t before = memory::cpu_usage().live_bytes;
    memory::reset_cpu_peak();
    const RunOverview overview = plan_run(request());
    const std::uint64_t peak = memory::cpu_usage().peak_bytes - before;
    ASSERT_GT(overview.forecast.peak_bytes, std::uint64_t{128} << 20);
    ASSERT_EQ(overview.settings.kernels.value, "fused");
    RecordProperty("planning", cat(peak, " of ", overview.forecast.peak_bytes));
    EXPECT_LT(peak, overview.forecast.peak_bytes * 11 / 10);
  }
};

TEST_F(PlanningMemory, IsNoMoreThanTheRuns) {
  holds(128, 64, 15);
}

TEST_F(PlanningMemory, IsNoMoreThanTheRunsWhereTimeIsShort) {
  holds(256, 16, 0.5);
}

// Ordinary memory, which the CPU's allocator does not see: as much as two good
// states, a checkpoint that is written and one that waits.
TEST_F(Budgets, CopiesOfTheStateLieBesideTheTensors) {
  const auto copies = [](const memory::Forecast& forecast) {
    for (const memory::ForecastPart& part : forecast.parts)
      if (part.what == "good states and checkpoints") {
        EXPECT_FALSE(part.tensors);
        return part.bytes;
      }
    return std::uint64_t{0};
  };
  RunRequest asked = request();
  asked.machine.memory.physical_bytes = std::uint64_t{1} << 30;
  const RunOverview overview = plan_run(asked);
  const RunResult result = train::run(request());
  std::int64_t saved = 0;
  for (const auto& event : journal::read_journal(result.directory.journal()))
    if (event.kind == "checkpoint") saved = *event.count("bytes");
  ASSERT_GT(saved, 0);
  const auto state = static_cast<std::uint64_t>(saved);
  EXPECT_EQ(copies(overview.forecast), 4 * state);
  EXPECT_THAT(overview.forecast.budget.why, HasSubstr("copies of the state"));
  asked.config.guard.nan = "stop";
  const RunOverview without = plan_run(asked);
  EXPECT_EQ(copies(without.forecast), 2 * state);
  EXPECT_EQ(
      without.forecast.budget.bytes - overview.forecast.budget.bytes,
      2 * state);
}

TEST_F(Budgets, AQuarterOfThePeakStillTrainsTheSameBatches) {
  use_groups();
  const Told whole = run();
  const std::vector<double> allowed = rounding(whole);
  const std::uint64_t peak = whole_bytes();
  std::int64_t before = 33;
  for (const int percent : {60, 40, 25}) {
    config_.memory.budget.bytes = peak * percent / 100;
    const Told told = run();
    ASSERT_EQ(told.losses.size(), 3U) << percent;
    EXPECT_LT(told.at_once.back(), before) << percent;
    before = told.at_once.back();
    // Of groups it does not matter how many are computed at once.
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(told.losses[i], whole.losses[i], allowed[i]) << percent;
  }
}

struct ZooCase {
  const char* name;
  const char* source;
  std::int64_t batch;
  double width; // 0: it has none
  bool batch_norm;
};

// What does not depend on the batch is a small part of each, as it is of what
// does not fit in real life: a budget below it cannot be kept by anybody.
const ZooCase kZoo[] = {
    {"cnn", "synthetic:images=384,size=28,classes=4", 128, 1, false},
    {"mlp", "synthetic:rows=12288,features=16,classes=4", 4096, 0, false},
    {"vit_tiny", "synthetic:images=96,size=64,classes=4", 32, 0, false},
    {"gpt_tiny", "synthetic:tokens=12400,sequence=64", 64, 0, false},
    {"mobilenet_v2", "synthetic:images=96,size=64,classes=4", 32, 0.5, true},
    {"resnet18", "synthetic:images=96,size=128,classes=4", 32, 0.25, true},
    {"resnet34", "synthetic:images=96,size=128,classes=4", 32, 0.25, true},
    {"resnet50", "synthetic:images=96,size=128,classes=4", 32, 0.25, true},
};

void PrintTo(const ZooCase& each, std::ostream* out) {
  *out << each.name;
}

class ZooBudgets : public Budgets,
                   public testing::WithParamInterface<ZooCase> {};

// With BatchNorm fewer samples at once are other statistics.
TEST_P(ZooBudgets, AQuarterOfThePeakTrainsTheSameBatches) {
  if (std::getenv("TEMPER_TORTURE") == nullptr)
    GTEST_SKIP() << "only in the full form: make torture.";
  const ZooCase& each = GetParam();
  config_.model.name = each.name;
  config_.model.width = each.width > 0 ? each.width : 1;
  config_.data.source = each.source;
  config_.train.batch = each.batch;
  config_.optimizer.lr = 1e-3;
  if (contains(each.name, "resnet")) config_.model.dropout = -1;
  if (std::string(each.name) == "mlp") config_.model.widths = {256, 256, 256};
  const Told whole = run();
  ASSERT_GE(whole.losses.size(), 3U);
  ASSERT_EQ(whole.at_once.front(), each.batch);
  const std::uint64_t peak = whole_bytes();
  int done = 0;
  for (const int percent : {60, 40, 25}) {
    config_.memory.budget.bytes = peak * percent / 100;
    const Told told = run();
    ASSERT_EQ(told.losses.size(), whole.losses.size()) << percent;
    EXPECT_EQ(told.samples, whole.samples) << percent;
    EXPECT_LT(told.at_once.back(), each.batch) << percent;
    for (std::size_t i = 0; i < told.losses.size(); ++i) {
      EXPECT_TRUE(std::isfinite(told.losses[i])) << percent;
      const double allowed = each.batch_norm ? 10 : 1e-4;
      EXPECT_NEAR(told.losses[i], whole.losses[i], allowed) << percent;
    }
    ++done;
  }
  RecordProperty("cases", done);
}

INSTANTIATE_TEST_SUITE_P(
    OfTheZoo,
    ZooBudgets,
    testing::ValuesIn(kZoo),
    [](const auto& each) { return std::string(each.param.name); });

// A model that cannot be looked into: two steps are measured, and the line
// through them is held against what the first epoch took.
TEST_F(Budgets, AnOpaqueModelIsForecastFromTwoMeasuredSteps) {
  const std::pair<const char*, const char*> all[] = {
      {"cnn", "sgd"}, {"cnn", "adamw"}, {"mobilenet_v2", "sgd"}};
  for (const auto& [name, optimizer] : all) {
    memory::limit_cpu(0); // of the run before
    model::ZooOptions zoo;
    zoo.name = name;
    zoo.image_size = 32;
    zoo.channels = 3;
    zoo.classes = 4;
    model::ExportOptions options;
    options.format = model::ExportFormat::kTorchScript;
    options.training = true;
    const auto file = folder_ / cat(name, ".pt");
    model::export_program(model::build(zoo), file, options);
    config_.model = {};
    config_.model.name = file.string();
    config_.optimizer.name = optimizer;
    config_.optimizer.momentum = 0.9;
    config_.memory.budget = {};
    config_.train.batch = 16;
    const Told told = run();
    EXPECT_EQ(told.forecast.text("how"), "from steps of 4 and 16 samples");
    ASSERT_EQ(told.check.kind, "forecast_check");
    const double error = *told.check.number("error");
    RecordProperty(cat(name, "_", optimizer), cat(error));
    EXPECT_LE(std::abs(error), 0.05)
        << name << ", " << optimizer << ": "
        << *told.check.count("forecast_bytes") << " "
        << *told.check.count("measured_bytes");
    // And it is good enough to choose by.
    const auto peak = *told.check.count("measured_bytes");
    const auto base = plan_run(request()).forecast.base_bytes;
    config_.memory.budget.bytes =
        static_cast<std::uint64_t>((static_cast<double>(peak) + base) / 2);
    const Told half = run();
    EXPECT_LT(half.at_once.front(), 16) << name << ", " << optimizer;
    EXPECT_EQ(half.losses.size(), told.losses.size());
    EXPECT_THAT(half.kinds, testing::Not(testing::Contains("retry")));
  }
}

TEST_F(Budgets, AForecastThatIsTooLowIsPutRight) {
  use_groups();
  const Told whole = run();
  const std::vector<double> allowed = rounding(whole);
  // The forecast is told of one budget, the allocator of another.
  RunRequest asked = request();
  const std::uint64_t peak = whole_bytes();
  tests::WhenStarted observer(
      [&] { memory::limit_cpu(memory::cpu_usage().live_bytes + peak / 2); });
  asked.observer = &observer;
  const RunResult result = train::run(asked);
  std::vector<std::string> kinds;
  std::vector<double> losses;
  for (const auto& event : journal::read_journal(result.directory.journal())) {
    kinds.push_back(event.kind);
    if (event.kind == "step") losses.push_back(*event.number("loss"));
  }
  EXPECT_THAT(kinds, testing::Contains("retry"));
  ASSERT_EQ(losses.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(losses[i], whole.losses[i], allowed[i]);
}

TEST_F(Budgets, WithBatchNormItIsSaidWhatSplittingMeans) {
  config_.memory.budget.bytes = whole_bytes() / 2;
  const RunOverview overview = plan_run(request());
  EXPECT_LT(overview.forecast.at_once, 16);
  EXPECT_THAT(overview.forecast.why, HasSubstr("model.bn_group"));
  EXPECT_EQ(
      overview.settings.micro_batch.value, cat(overview.forecast.at_once));
}

TEST_F(Budgets, WhatTheUserFixedStaysAndMustNotCutGroups) {
  config_.memory.micro_batch = 6;
  EXPECT_EQ(plan_run(request()).forecast.at_once, 6);
  config_.model.bn_group = 4;
  EXPECT_THROW(plan_run(request()), Error);
}

// Runs out of memory so many times, and looks at what waits to be used
// again.
class ForgetfulEngine final : public Engine {
 public:
  EngineFacts facts() const override {
    EngineFacts facts;
    facts.device = "cpu";
    return facts;
  }
  bool step(const data::HostBatch&, const StepOrder&) override {
    use();
    return true;
  }
  void evaluate(const data::HostBatch&) override {
    use();
  }
  void set_evaluation_slice(int) override {}
  StepReport report() override {
    return {};
  }
  MetricSums take_training_sums() override {
    return {};
  }
  MetricSums take_evaluation_sums() override {
    return {};
  }
  EngineState capture() override {
    return {};
  }
  void restore(const EngineState&) override {}
  graph::Weights weights() override {
    return {};
  }

  int failures = 0;
  std::vector<std::uint64_t> waiting; // before each try

 private:
  void use() {
    waiting.push_back(memory::cpu_usage().pooled_bytes >> 20);
    at::empty({32 << 20}, at::kByte);
    if (failures-- > 0) throw OutOfMemory("[train] out of memory.");
  }
};

class Releases : public ::testing::Test {
 protected:
  Releases()
      : governor_(options()), attempt_(engine_, governor_, [](auto&) {}) {
    memory::install_cpu_allocator();
    memory::trim_cpu_pool();
    batch_.size = 16;
  }
  static memory::GovernorOptions options() {
    memory::GovernorOptions made;
    made.batch = 16;
    return made;
  }

  ForgetfulEngine engine_;
  memory::Governor governor_;
  Attempt attempt_;
  data::HostBatch batch_;
};

TEST_F(Releases, WhatWaitsBeforeAStepIsTriedAgain) {
  engine_.failures = 2;
  attempt_.step(batch_, {});
  EXPECT_EQ(engine_.waiting, (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST_F(Releases, WhatWaitsBeforeAValidationIsTriedAgain) {
  engine_.failures = 2;
  attempt_.evaluate(batch_, {});
  EXPECT_EQ(engine_.waiting, (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST_F(Releases, WhatWaitsWhenMemoryIsShortAndNothingOtherwise) {
  memory::MemorySample now;
  now.pressure = machine::Pressure::normal;
  for (int i = 0; i < 5; ++i) {
    attempt_.step(batch_, {});
    attempt_.see(now, {});
  }
  EXPECT_EQ(engine_.waiting, (std::vector<std::uint64_t>{0, 32, 32, 32, 32}));
  now.pressure = machine::Pressure::critical;
  for (int i = 0; i < 3; ++i)
    attempt_.see(now, {});
  EXPECT_EQ(governor_.micro_batch(), 8);
  EXPECT_EQ(memory::cpu_usage().pooled_bytes, 0U);
}

TEST_F(Budgets, WhatPlanningMeasuredIsGivenBackBeforeTheRun) {
  config_.data.source = "synthetic:images=96,size=64,classes=4";
  config_.train.batch = 32;
  config_.precision = "auto";
  config_.layout = "auto";
  RunRequest asked = request();
  memory::CpuUsage at_start;
  tests::WhenStarted observer([&] { at_start = memory::cpu_usage(); });
  asked.observer = &observer;
  train::run(asked);
  ASSERT_GT(at_start.live_bytes, 0U);
  EXPECT_LT(at_start.held_bytes, 2 * at_start.live_bytes);
}

} // namespace
} // namespace temper::train
