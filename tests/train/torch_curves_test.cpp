// Learning curves against PyTorch's: the same weights, batches and decay groups
// give the same losses, step after step. reference/curves.py made those.
//
// In a network with ReLU and BatchNorm rounding grows: PyTorch's own float32
// and float64 part within a few steps. So float32 is held against PyTorch's for
// as long as those two agree to 1e-5, which leaves a factor of ten for rounding
// that falls otherwise; then, until they are 1e-2 apart, against float64, from
// which ours may be ten times as far as PyTorch's. And in float64 all is the
// same to the end.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "temper/model/executor.h"
#include "temper/model/zoo.h"
#include "temper/train/tasks.h"
#include "temper/train/torch_engine.h"
#include "tests/model/formula.h"
#include "tests/model/zoo_cases.h"
#include "tests/paths.h"

namespace temper::train {
namespace {

using nlohmann::json;

constexpr double kApart = 1e-5; // below that, PyTorch's two types agree
constexpr double kParted = 1e-2; // above, these are other runs
constexpr double kTimes = 10;
constexpr double kFloat64Tolerance = 1e-7;

// Another task on a model in float64.
class Widened final : public Task {
 public:
  Widened(std::unique_ptr<Task> task, std::shared_ptr<model::Module> model)
      : Task(std::move(model)), task_(std::move(task)) {}

  at::Tensor train_step(const Batch& batch) override {
    Batch wide = batch;
    wide.inputs = batch.inputs.to(at::kDouble);
    return task_->train_step(wide);
  }
  double units(const Batch& batch) const override {
    return task_->units(batch);
  }

 private:
  std::unique_ptr<Task> task_;
};

// A batch of the formula's numbers, as a loader gives it.
struct Samples {
  Samples(const json& expected, int number) {
    const auto options = model::zoo_options(expected.at("options"));
    const std::int64_t size = options.image_size.value();
    batch.size = expected.at("batch");
    batch.shape = {options.channels.value_or(3), size, size};
    const std::int64_t each = batch.shape[0] * size * size;
    for (std::int64_t i = 0; i < batch.size * each; ++i)
      inputs.push_back(model::formula::unit(
          "input." + std::to_string(number), static_cast<std::uint32_t>(i)));
    for (int i = 0; i < batch.size; ++i) {
      indices.push_back(i);
      labels.push_back(
          model::formula::bits(
              "label." + std::to_string(number),
              static_cast<std::uint32_t>(i)) %
          static_cast<std::uint32_t>(options.classes.value()));
    }
    batch.inputs = inputs.data();
    batch.labels = labels.data();
    batch.indices = indices.data();
  }
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;

  std::vector<float> inputs;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> indices;
  data::Batch batch;
};

config::Config config_of(const json& rule) {
  config::Config config;
  config.optimizer.name = rule.at("name");
  config.optimizer.lr = rule.at("lr");
  config.optimizer.weight_decay = rule.at("weight_decay");
  config.optimizer.momentum = rule.value("momentum", 0.0);
  config.optimizer.betas = rule.value("betas", config.optimizer.betas);
  config.optimizer.eps = rule.value("eps", config.optimizer.eps);
  return config;
}

std::unique_ptr<Engine> engine(const json& expected, at::ScalarType type) {
  graph::Program program =
      model::build(model::zoo_options(expected.at("options")));
  model::formula::set_weights(program);
  const auto module = std::make_shared<model::GraphModule>(program);
  data::SourceInfo info;
  info.target = data::Target::label;
  TorchEngineParts parts;
  parts.config = config_of(expected.at("optimizer"));
  parts.task = make_task(parts.config, info, module);
  if (type == at::kDouble) {
    module->to(at::kDouble);
    parts.task = std::make_unique<Widened>(std::move(parts.task), module);
  }
  parts.classes = expected.at("options").at("classes");
  return make_torch_engine(std::move(parts));
}

std::vector<double>
curve(const json& expected, at::ScalarType type, std::size_t steps) {
  std::vector<std::unique_ptr<Samples>> batches;
  for (int i = 0; i < expected.at("batches").get<int>(); ++i)
    batches.push_back(std::make_unique<Samples>(expected, i));
  const auto trained = engine(expected, type);
  std::vector<double> losses;
  for (std::size_t i = 0; i < steps; ++i) {
    StepOrder order;
    order.update = static_cast<std::int64_t>(i);
    order.lr = expected.at("optimizer").at("lr");
    order.report = true;
    trained->step(batches[i % batches.size()]->batch, order);
    losses.push_back(trained->report().loss);
  }
  return losses;
}

void expect_near(
    double ours,
    double theirs,
    double relative,
    std::size_t step) {
  EXPECT_NEAR(ours, theirs, relative * std::fabs(theirs))
      << "loss of step " << step;
}

struct Case {
  std::string name;
  json expected;
};

// The name of the test, in GoogleTest's lists.
void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
}

std::vector<Case> cases() {
  std::ifstream file(tests::fixtures() / "train" / "curves.json");
  std::vector<Case> all;
  for (const json& each : json::parse(file))
    all.push_back(
        {each.at("options").at("name").get<std::string>() + "_" +
             each.at("optimizer").at("name").get<std::string>(),
         each});
  return all;
}

// On one thread: others at work on the machine would make two wait for each
// other.
class Curves : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
  }
  void TearDown() override {
    at::set_num_threads(threads_);
  }

 private:
  int threads_ = at::get_num_threads();
};

TEST_P(Curves, are_pythons_as_far_as_float32_allows) {
  const json& expected = GetParam().expected;
  const auto single = expected.at("float32").get<std::vector<double>>();
  const auto wide = expected.at("float64").get<std::vector<double>>();
  std::vector<double> apart; // PyTorch's two types, at most so far
  for (std::size_t i = 0; i < single.size(); ++i) {
    const double here = std::fabs(single[i] - wide[i]) / wide[i];
    apart.push_back(i == 0 ? here : std::max(here, apart.back()));
    if (apart.back() > kParted) break;
  }
  // The first update shows in the second loss.
  ASSERT_GT(apart.size(), 2U);
  ASSERT_LE(apart[1], kApart) << "the values compare nothing";
  const auto ours = curve(expected, at::kFloat, apart.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (apart[i] <= kApart)
      expect_near(ours[i], single[i], kTimes * kApart, i);
    else
      expect_near(ours[i], wide[i], kTimes * apart[i], i);
}

TEST_P(Curves, are_pythons_to_the_end_in_float64) {
  const json& expected = GetParam().expected;
  const auto wide = expected.at("float64").get<std::vector<double>>();
  ASSERT_EQ(wide.size(), 50U);
  EXPECT_LT(wide.back(), 0.9 * wide.front()) << "there was nothing to learn";
  const auto ours = curve(expected, at::kDouble, wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i)
    expect_near(ours[i], wide[i], kFloat64Tolerance, i);
}

INSTANTIATE_TEST_SUITE_P(
    Twin,
    Curves,
    ::testing::ValuesIn(cases()),
    [](const auto& each) { return each.param.name; });

} // namespace
} // namespace temper::train
