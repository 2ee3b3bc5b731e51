// The zoo against PyTorch and torchvision: the same weights in give the same
// logits, gradients and statistics, trained and evaluated. In float64 to many
// digits, which proves the graphs; in float32 to what float32 can.
#include <ATen/ATen.h>
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

struct Tolerance {
  double eval_logits = 0;
  double train_logits = 0; // and statistics
  double gradients = 0; // relative to the gradient's norm
};

// A gradient that is zero but for rounding, as of a bias before BatchNorm or of
// keys in attention, is compared on the scale of the others.
double floor_of(const json& parameters) {
  double largest = 0;
  for (const json& parameter : parameters)
    largest = std::max(largest, parameter[2][0].get<double>());
  return 1e-3 * largest;
}

void check_case(
    const ZooCase& each,
    at::ScalarType type,
    const Tolerance& tolerance) {
  const json& expected = each.expected;
  graph::Program program = build(zoo_options(expected.at("options")));
  formula::set_weights(program);
  GraphModule net(program);
  net.to(type);
  const Samples batch = samples(expected, type);

  net.set_training(false);
  {
    const at::NoGradGuard no_gradients;
    expect_logits(
        net.forward({batch.input}),
        expected.at("eval_logits"),
        tolerance.eval_logits,
        "eval logits");
  }

  net.set_training(true);
  const at::Tensor logits = net.forward({batch.input});
  expect_logits(
      logits,
      expected.at("train_logits"),
      tolerance.train_logits,
      "train logits");
  at::cross_entropy_loss(logits, batch.labels).backward();

  const json& parameters = expected.at("parameters");
  const double floor = floor_of(parameters);
  const auto ours = net.parameters();
  ASSERT_EQ(ours.size(), parameters.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::vector<double> values = doubles(parameters[i][2]);
    ASSERT_EQ(ours[i].name, parameters[i][0].get<std::string>());
    ASSERT_TRUE(ours[i].tensor.grad().defined()) << ours[i].name;
    expect_close(
        summary(ours[i].tensor.grad()),
        values,
        tolerance.gradients * std::max(values[0], floor),
        ours[i].name);
  }

  const json& buffers = expected.at("buffers");
  const auto statistics = net.buffers();
  ASSERT_EQ(statistics.size(), buffers.size());
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const std::vector<double> values = doubles(buffers[i][2]);
    ASSERT_EQ(statistics[i].name, buffers[i][0].get<std::string>());
    expect_close(
        summary(statistics[i].tensor),
        values,
        tolerance.train_logits * std::max(values[0], 1.0),
        statistics[i].name);
  }
}

class TorchZoo : public testing::TestWithParam<ZooCase> {};

TEST_P(TorchZoo, ComputesWhatPytorchComputesInFloat64) {
  check_case(GetParam(), at::kDouble, {1e-9, 1e-9, 1e-8});
}

// Where the statistics of a few values amplify rounding, PyTorch's own float32
// is farther from the truth than that; then ours may be about as far.
TEST_P(TorchZoo, ComputesWhatPytorchComputesInFloat32) {
  constexpr double kAbout = 4;
  const json& pytorch = GetParam().expected.at("float32");
  const auto allowed = [&](const char* what, double goal) {
    return std::max(goal, kAbout * pytorch.at(what).get<double>());
  };
  check_case(
      GetParam(),
      at::kFloat,
      {1e-5, allowed("train_logits", 1e-5), allowed("gradients", 1e-4)});
}

INSTANTIATE_TEST_SUITE_P(
    Reference,
    TorchZoo,
    testing::ValuesIn(zoo_cases()),
    [](const auto& each) { return each.param.name; });

} // namespace
} // namespace temper::model
