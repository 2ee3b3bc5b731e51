// The zoo against PyTorch and torchvision: the same weights in give the same
// logits, gradients and statistics, trained and evaluated. In float64 to many
// digits, which proves the graphs; in float32 to what float32 can.
//
// How far float32 may be from PyTorch's float64 follows from float64 alone, so
// that it is the same on every processor: the graph is computed in float64 with
// every result, and every gradient on its way back, off by what sums of float32
// are off by. Batch statistics of few values amplify that, and where it takes a
// value over the kink of a ReLU, a gradient jumps; both are in what these runs
// are off by.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"
#include "tests/model/formula.h"
#include "zoo_cases.h"

namespace temper::model {
namespace {

using nlohmann::json;

std::vector<double> doubles(const json& list) {
  return list.get<std::vector<double>>();
}

at::Tensor made_of(
    const std::string& name,
    const std::vector<std::int64_t>& sizes,
    std::uint32_t below) {
  at::Tensor tensor = at::empty(sizes, at::kLong);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_ptr<std::int64_t>()[i] =
        formula::bits(name, static_cast<std::uint32_t>(i)) % below;
  return tensor;
}

at::Tensor images(const std::vector<std::int64_t>& sizes, at::ScalarType type) {
  at::Tensor tensor = at::empty(sizes, at::kFloat);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_ptr<float>()[i] =
        2 * formula::unit("input", static_cast<std::uint32_t>(i));
  return tensor.to(type);
}

struct Samples {
  at::Tensor input;
  at::Tensor labels;
};

Samples samples(const json& expected, at::ScalarType type) {
  const json& options = expected.at("options");
  const std::int64_t batch = expected.at("batch");
  if (options.at("name") == "gpt_tiny") {
    const std::int64_t context = options.at("context");
    const std::uint32_t vocabulary = options.at("vocabulary");
    return {
        made_of("input", {batch, context}, vocabulary),
        made_of("label", {batch, context}, vocabulary)};
  }
  const std::int64_t size = options.at("image_size");
  const std::int64_t channels = options.value("channels", 3);
  std::vector<std::int64_t> sizes{batch, channels};
  if (size > 1) sizes.insert(sizes.end(), {size, size});
  return {
      images(sizes, type),
      made_of("label", {batch}, options.value("classes", 1000U))};
}

// The norm, and entries evenly spaced, as the script keeps them.
std::vector<double> summary(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).flatten();
  std::vector<double> values{flat.norm().item<double>()};
  constexpr std::int64_t kEntries = 3;
  for (std::int64_t i = 0; i < kEntries; ++i)
    values.push_back(
        flat[i * (flat.numel() - 1) / (kEntries - 1)].item<double>());
  return values;
}

void expect_close(
    const std::vector<double>& got,
    const std::vector<double>& expected,
    double allowed,
    const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], allowed) << what << ", value " << i;
}

// Logits near each other, relative to the largest once that is above 1.
void expect_logits(
    const at::Tensor& logits,
    const json& kept,
    double tolerance,
    const char* mode) {
  const std::vector<double> expected = doubles(kept);
  const at::Tensor flat = logits.detach().to(at::kDouble).flatten();
  std::vector<double> got;
  for (std::size_t i = 0; i < expected.size(); ++i)
    got.push_back(flat[static_cast<std::int64_t>(i)].item<double>());
  const double largest = std::max(1.0, flat.abs().max().item<double>());
  expect_close(got, expected, tolerance * largest, mode);
}

// All that one step computes, in float64 whatever it was computed in.
struct Outcome {
  at::Tensor eval_logits;
  at::Tensor train_logits;
  std::vector<NamedTensor> gradients;
  std::vector<NamedTensor> statistics;
};

// Sums of a few thousand products are made of vectors and blocks, so that a few
// hundred roundings follow each other; they add up as a random walk does.
constexpr double kRoundings = 256;
const double kNoise = std::sqrt(kRoundings) * std::ldexp(1, -24);

// Each number off by a part of itself, up or down, at most kNoise.
class Noise {
 public:
  explicit Noise(std::uint64_t seed)
      : generator_(at::detail::createCPUGenerator(seed)) {}

  at::Tensor on(const at::Tensor& exact) const {
    const at::NoGradGuard no_gradients;
    return exact *
        at::rand(exact.sizes(), generator_, exact.options())
            .mul(2 * kNoise)
            .add(1 - kNoise);
  }
  NodeHooks hooks() const {
    NodeHooks hooks;
    hooks.after = [this](const NodeEvent&, const auto& results) {
      for (const at::Tensor& result : results)
        disturb(result);
    };
    return hooks;
  }

 private:
  // Through data(), of which autograd sees nothing. Views that lie in memory
  // several times were disturbed before they became that.
  void disturb(const at::Tensor& result) const {
    if (!result.defined() || !at::isFloatingType(result.scalar_type()) ||
        !result.is_non_overlapping_and_dense())
      return;
    result.data().copy_(on(result.data()));
    if (result.requires_grad())
      result.register_hook([this](const at::Tensor& grad) { return on(grad); });
  }

  mutable at::Generator generator_;
};

Outcome zoo_step(
    const json& expected,
    at::ScalarType type,
    const Noise* noise = nullptr) {
  graph::Program program = build(zoo_options(expected.at("options")));
  formula::set_weights(program);
  GraphModule net(program);
  net.to(type);
  if (noise) net.set_hooks(noise->hooks());
  const Samples batch = samples(expected, type);
  Outcome outcome;
  net.set_training(false);
  {
    const at::NoGradGuard no_gradients;
    outcome.eval_logits = net.forward({batch.input}).to(at::kDouble);
  }
  net.set_training(true);
  const at::Tensor logits = net.forward({batch.input});
  outcome.train_logits = logits.detach().to(at::kDouble);
  at::cross_entropy_loss(logits, batch.labels).backward();
  for (NamedTensor each : net.parameters()) {
    each.tensor = each.tensor.grad();
    if (each.tensor.defined()) each.tensor = each.tensor.to(at::kDouble);
    if (noise) each.tensor = noise->on(each.tensor);
    outcome.gradients.push_back(each);
  }
  for (NamedTensor each : net.buffers()) {
    each.tensor = each.tensor.detach().to(at::kDouble);
    outcome.statistics.push_back(each);
  }
  return outcome;
}

struct Tolerance {
  double eval_logits = 0; // relative to the largest once that is above 1
  double train_logits = 0;
  double gradients = 0; // relative to the gradient's norm
  double statistics = 0; // relative to their norm once that is above 1
};

double length(const at::Tensor& tensor) {
  return tensor.norm().item<double>();
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>() /
      std::max(1.0, b.abs().max().item<double>());
}

// A gradient that is zero but for rounding, as of a bias before BatchNorm or of
// keys in attention, is compared on the scale of the others.
constexpr double kZeroGradient = 1e-3;

Tolerance distance(const Outcome& noisy, const Outcome& exact) {
  Tolerance far;
  far.eval_logits = difference(noisy.eval_logits, exact.eval_logits);
  far.train_logits = difference(noisy.train_logits, exact.train_logits);
  double largest = 0;
  for (const NamedTensor& each : exact.gradients)
    largest = std::max(largest, length(each.tensor));
  for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
    const at::Tensor& gradient = exact.gradients[i].tensor;
    far.gradients = std::max(
        far.gradients,
        length(noisy.gradients[i].tensor - gradient) /
            std::max(length(gradient), kZeroGradient * largest));
  }
  for (std::size_t i = 0; i < exact.statistics.size(); ++i) {
    const at::Tensor& statistic = exact.statistics[i].tensor;
    far.statistics = std::max(
        far.statistics,
        length(noisy.statistics[i].tensor - statistic) /
            std::max(1.0, length(statistic)));
  }
  return far;
}

// Twice the farthest of a few runs.
Tolerance float32_can(const json& expected) {
  constexpr double kAbout = 2;
  constexpr std::uint64_t kRuns = 3;
  const Outcome exact = zoo_step(expected, at::kDouble);
  Tolerance most;
  const auto raise = [](double& one, double far) {
    one = std::max(one, kAbout * far);
  };
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const Noise noise(seed);
    const Tolerance far =
        distance(zoo_step(expected, at::kDouble, &noise), exact);
    raise(most.eval_logits, far.eval_logits);
    raise(most.train_logits, far.train_logits);
    raise(most.gradients, far.gradients);
    raise(most.statistics, far.statistics);
  }
  return most;
}

double floor_of(const json& parameters) {
  double largest = 0;
  for (const json& parameter : parameters)
    largest = std::max(largest, parameter[2][0].get<double>());
  return kZeroGradient * largest;
}

void expect_pytorchs(
    const Outcome& ours,
    const json& expected,
    const Tolerance& tolerance) {
  expect_logits(
      ours.eval_logits,
      expected.at("eval_logits"),
      tolerance.eval_logits,
      "eval logits");
  expect_logits(
      ours.train_logits,
      expected.at("train_logits"),
      tolerance.train_logits,
      "train logits");

  const json& parameters = expected.at("parameters");
  const double floor = floor_of(parameters);
  ASSERT_EQ(ours.gradients.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const NamedTensor& gradient = ours.gradients[i];
    const std::vector<double> values = doubles(parameters[i][2]);
    ASSERT_EQ(gradient.name, parameters[i][0].get<std::string>());
    ASSERT_TRUE(gradient.tensor.defined()) << gradient.name;
    expect_close(
        summary(gradient.tensor),
        values,
        tolerance.gradients * std::max(values[0], floor),
        gradient.name);
  }

  const json& buffers = expected.at("buffers");
  ASSERT_EQ(ours.statistics.size(), buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const NamedTensor& statistic = ours.statistics[i];
    const std::vector<double> values = doubles(buffers[i][2]);
    ASSERT_EQ(statistic.name, buffers[i][0].get<std::string>());
    expect_close(
        summary(statistic.tensor),
        values,
        tolerance.statistics * std::max(values[0], 1.0),
        statistic.name);
  }
}

// On one thread: others at work on the machine would make two wait for each
// other.
class TorchZoo : public testing::TestWithParam<ZooCase> {
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

TEST_P(TorchZoo, ComputesWhatPytorchComputesInFloat64) {
  const json& expected = GetParam().expected;
  expect_pytorchs(
      zoo_step(expected, at::kDouble), expected, {1e-9, 1e-9, 1e-8, 1e-9});
}

TEST_P(TorchZoo, ComputesWhatPytorchComputesInFloat32) {
  const json& expected = GetParam().expected;
  expect_pytorchs(
      zoo_step(expected, at::kFloat), expected, float32_can(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Reference,
    TorchZoo,
    testing::ValuesIn(zoo_cases()),
    [](const auto& each) { return each.param.name; });

} // namespace
} // namespace temper::model
