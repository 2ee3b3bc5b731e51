// Exported networks trained here as Python trained them: losses, gradients,
// buffers, eval mode.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/data/format/npy.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/executor/executor.h"
#include "temper/model/module/tensors.h"
#include "tests/half_precision.h"
#include "tests/paths.h"
#include "tests/shared_data.h"

namespace temper::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

at::Tensor from_json(const json& value) {
  const auto sizes = value.at("shape").get<std::vector<std::int64_t>>();
  const auto type = graph::dtype_named(value.at("dtype").get<std::string>());
  std::vector<double> numbers;
  for (const auto& entry : value.at("data"))
    numbers.push_back(
        entry.is_boolean() ? (entry.get<bool>() ? 1.0 : 0.0)
                           : entry.get<double>());
  return at::tensor(numbers, at::kDouble)
      .reshape(sizes)
      .to(scalar_type_of(type.value()));
}

at::Tensor from_npy(const fs::path& path) {
  const auto array = data::map_npy(path);
  const bool real = array.header.kind == data::NpyKind::floating;
  at::Tensor tensor =
      at::empty(array.header.shape, real ? at::kFloat : at::kLong);
  EXPECT_EQ(tensor.nbytes(), array.data.size());
  std::memcpy(tensor.data_ptr(), array.data.data(), array.data.size());
  return tensor;
}

struct Exercise {
  std::vector<at::Tensor> inputs;
  at::Tensor target;
  double lr = 0;
  bool seeded = false;
};

struct Trained {
  std::vector<double> losses;
  std::map<std::string, double> grad_norms;
  at::Tensor first_output;
  std::map<std::string, at::Tensor> buffers;
  at::Tensor eval_output;
  double eval_loss = 0;
};

Trained train(GraphModule& module, const Exercise& exercise) {
  std::vector<at::Tensor> trainable;
  for (const auto& parameter : module.parameters())
    if (parameter.trainable) trainable.push_back(parameter.tensor);
  torch::optim::SGD optimizer(
      trainable, torch::optim::SGDOptions(exercise.lr).momentum(0.9));
  Trained trained;
  for (int step = 0; step < 5; ++step) {
    if (exercise.seeded) at::manual_seed(static_cast<std::uint64_t>(step));
    optimizer.zero_grad();
    const at::Tensor output = module.forward(exercise.inputs);
    const at::Tensor loss = at::cross_entropy_loss(output, exercise.target);
    loss.backward();
    if (step == 0) {
      trained.first_output = output.detach();
      for (const auto& parameter : module.parameters())
        if (parameter.tensor.grad().defined())
          trained.grad_norms[parameter.name] =
              parameter.tensor.grad().to(at::kDouble).norm().item<double>();
    }
    optimizer.step();
    trained.losses.push_back(loss.item<double>());
  }
  for (const auto& buffer : module.buffers())
    trained.buffers[buffer.name] = buffer.tensor.clone();
  module.set_training(false);
  const at::NoGradGuard no_grad;
  trained.eval_output = module.forward(exercise.inputs);
  trained.eval_loss =
      at::cross_entropy_loss(trained.eval_output, exercise.target)
          .item<double>();
  return trained;
}

// Within `relative`; below a tenth, within that much of a tenth.
void expect_near(
    double ours,
    double theirs,
    double relative,
    const char* what) {
  EXPECT_NEAR(ours, theirs, relative * std::max(std::fabs(theirs), 0.1))
      << what;
}

void expect_near(
    const at::Tensor& ours,
    const at::Tensor& theirs,
    double tolerance,
    const std::string& what) {
  ASSERT_EQ(ours.sizes(), theirs.sizes()) << what;
  if (ours.numel() == 0) return;
  const auto difference =
      (ours.to(at::kDouble) - theirs.to(at::kDouble)).abs().max();
  EXPECT_LE(difference.item<double>(), tolerance) << what;
}

fs::path shared_pt2() {
  return tests::shared_data() / "pt2";
}

// MobileNetV2 at a batch of 16 is chaotic: rounding grows a hundredfold with a
// step, so that Python's own float32 runs part after the second one (its third
// loss is 2.1664 with PyTorch 2.14 and 2.1738 with 1.13). So that one is
// trained in float64: the first two losses against the float32 ones, and all of
// them against Python's in float64, which reference/pt2_float64.py prints.
const std::vector<double> kMobileNetLosses{
    2.338482347,
    2.248595780,
    2.157717988,
    2.134059592,
    1.953880950};
constexpr double kMobileNetEvalLoss = 2.200641555;

class SharedExports : public testing::TestWithParam<const char*> {};

TEST_P(SharedExports, TrainAsInPython) {
  const fs::path folder = shared_pt2();
  if (!fs::exists(folder / "expected.json"))
    GTEST_SKIP() << "no exported networks in " << folder.string();
  const std::string name = GetParam();
  const json expected =
      json::parse(read_small_file(folder / "expected.json").value()).at(name);
  GraphModule module(graph::read_pt2(folder / (name + ".pt2")));
  Exercise exercise{
      {from_npy(folder / (name + ".x.npy"))},
      from_npy(folder / (name + ".y.npy")),
      0.01,
      false};
  const bool chaotic = name == "mobilenet_v2_w025";
  if (chaotic) {
    module.to(at::kDouble);
    exercise.inputs[0] = exercise.inputs[0].to(at::kDouble);
  }
  const Trained trained = train(module, exercise);
  auto losses = expected.at("losses").get<std::vector<double>>();
  ASSERT_EQ(trained.losses.size(), losses.size());
  double eval_loss = expected.at("eval_loss_after_5").get<double>();
  if (chaotic) {
    for (std::size_t i = 0; i < 2; ++i)
      expect_near(trained.losses[i], losses[i], 1e-4, "loss before the chaos");
    losses = kMobileNetLosses;
    eval_loss = kMobileNetEvalLoss;
  }
  const double tolerance = chaotic ? 1e-7 : 1e-4;
  for (std::size_t i = 0; i < losses.size(); ++i)
    expect_near(trained.losses[i], losses[i], tolerance, "loss");
  expect_near(trained.eval_loss, eval_loss, tolerance, "eval loss");
  const auto& norms = expected.at("grad_norms_step0");
  EXPECT_EQ(trained.grad_norms.size(), norms.size());
  for (const auto& [key, norm] : norms.items())
    expect_near(
        trained.grad_norms.at(key), norm.get<double>(), 1e-4, key.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    pt2,
    SharedExports,
    testing::Values(
        "mobilenet_v2_w025",
        "tiny_resnet",
        "tiny_vit",
        "tiny_gpt",
        "tiny_lstm"),
    [](const auto& name) { return std::string(name.param); });

const fs::path kFixtures = tests::fixtures() / "pt2";

class Fixtures : public testing::TestWithParam<const char*> {};

TEST_P(Fixtures, TrainAsInPython) {
  const std::string name = GetParam();
  if (name == "autocast" && tests::bf16_is_kept_from_onednn())
    GTEST_SKIP() << tests::kNoBf16;
  // bfloat16 rounds to 2^-8, and other versions add up in another order.
  const auto within = [&](double tolerance) {
    return name == "autocast" ? 0x1p-5 : tolerance;
  };
  const json expected =
      json::parse(read_small_file(kFixtures / "expected.json").value())
          .at(name);
  GraphModule module(graph::read_pt2(kFixtures / (name + ".pt2")));
  Exercise exercise{{}, from_json(expected.at("target")), 0.1, true};
  for (const auto& input : expected.at("inputs"))
    exercise.inputs.push_back(from_json(input));
  const Trained trained = train(module, exercise);
  expect_near(
      trained.first_output,
      from_json(expected.at("train_output_step0")),
      within(1e-5),
      "output of the first step");
  const auto losses = expected.at("losses").get<std::vector<double>>();
  for (std::size_t i = 0; i < losses.size(); ++i)
    expect_near(trained.losses.at(i), losses[i], within(1e-4), "loss");
  for (const auto& [key, norm] : expected.at("grad_norms_step0").items()) {
    // Tied parameters are one here, under the first name.
    const at::Tensor grad = module.tensor(key).grad();
    ASSERT_TRUE(grad.defined()) << key;
    if (trained.grad_norms.count(key) > 0)
      expect_near(
          trained.grad_norms.at(key),
          norm.get<double>(),
          within(1e-4),
          key.c_str());
  }
  for (const auto& [key, buffer] : expected.at("buffers_after").items())
    expect_near(trained.buffers.at(key), from_json(buffer), within(1e-4), key);
  // These count only `if self.training`, which an export decides for good.
  if (name == "counting" || name == "functional") return;
  expect_near(
      trained.eval_output,
      from_json(expected.at("eval_output_after")),
      within(2e-4),
      "output in eval mode");
  expect_near(
      trained.eval_loss,
      expected.at("eval_loss_after").get<double>(),
      within(1e-4),
      "eval loss");
}

INSTANTIATE_TEST_SUITE_P(
    pt2,
    Fixtures,
    testing::Values(
        "cnn",
        "cnn_eval",
        "cnn_fixed_batch",
        "dropout",
        "arguments",
        "lists",
        "sizes",
        "tied",
        "buffers",
        "counting",
        "functional",
        "two_inputs",
        "attention",
        "recurrent",
        "no_grad",
        "autocast",
        "shared",
        "modern",
        "per_channel",
        "hard_batch"),
    [](const auto& name) { return std::string(name.param); });

TEST(Exports, RunAtAnotherBatchThanTheExample) {
  GraphModule module(graph::read_pt2(kFixtures / "attention.pt2"));
  module.set_training(false);
  const at::Tensor words = at::randint(0, 11, {9, 6});
  const at::Tensor all = module.forward({words});
  ASSERT_EQ(all.size(0), 9);
  // One sample alone gives what it gives among others.
  const at::Tensor one = module.forward({words.slice(0, 3, 4)});
  expect_near(one, all.slice(0, 3, 4), 1e-6, "one of nine");
}

TEST(Exports, OfOneBatchAreUsedWithAny) {
  GraphModule module(graph::read_pt2(kFixtures / "hard_batch.pt2"));
  const at::Tensor images = at::randn({10, 2, 6, 6});
  EXPECT_ANY_THROW(module.forward({images})); // in training all would count
  module.set_training(false);
  const at::Tensor four = module.forward({images.slice(0, 0, 4)});
  const at::Tensor all = module.forward({images});
  ASSERT_EQ(all.size(0), 10);
  expect_near(all.slice(0, 0, 4), four, 0, "the first four of ten");
  // Two samples, and twice the last of them.
  const at::Tensor filled = module.forward(
      {at::cat({images.slice(0, 8), images.slice(0, 9), images.slice(0, 9)})});
  expect_near(all.slice(0, 8), filled.slice(0, 0, 2), 0, "the last two of ten");
}

TEST(Exports, KeepNoTraceOfWhatNeedsNoGradient) {
  GraphModule module(graph::read_pt2(kFixtures / "no_grad.pt2"));
  const at::Tensor row = at::randn({4, 6});
  module.forward({row}).sum().backward();
  // A gradient through the norm of the head would not be this alone.
  for (const auto& parameter : module.parameters())
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
  for (const auto& buffer : module.buffers())
    EXPECT_FALSE(buffer.tensor.requires_grad()) << buffer.name;
}

TEST(Exports, KeepWhatIsTiedAndWhatIsFrozen) {
  GraphModule module(graph::read_pt2(kFixtures / "tied.pt2"));
  EXPECT_TRUE(
      module.tensor("embed.weight").is_same(module.tensor("head.weight")));
  int tied = 0;
  for (const auto& parameter : module.parameters()) {
    EXPECT_EQ(parameter.trainable, parameter.name != "frozen");
    EXPECT_EQ(parameter.tensor.requires_grad(), parameter.trainable);
    if (parameter.name == "embed.weight" || parameter.name == "head.weight")
      ++tied;
  }
  EXPECT_EQ(tied, 1) << "an optimiser must see it once";
  module.to(at::kDouble);
  EXPECT_TRUE(
      module.tensor("embed.weight").is_same(module.tensor("head.weight")));
  const auto again = module.program();
  EXPECT_EQ(
      again.weights.at("embed.weight").bytes,
      again.weights.at("head.weight").bytes);
}

TEST(Exports, KeepIntegerBuffersInAnotherFloatingType) {
  GraphModule module(graph::read_pt2(kFixtures / "cnn.pt2"));
  module.to(at::kDouble);
  EXPECT_EQ(module.tensor("norm.num_batches_tracked").scalar_type(), at::kLong);
  EXPECT_EQ(module.tensor("norm.running_mean").scalar_type(), at::kDouble);
  EXPECT_EQ(module.tensor("conv.weight").scalar_type(), at::kDouble);
  module.forward({at::randn({3, 2, 6, 6}, at::kDouble)});
  EXPECT_EQ(module.tensor("norm.num_batches_tracked").item<int>(), 1);
}

} // namespace
} // namespace temper::model
