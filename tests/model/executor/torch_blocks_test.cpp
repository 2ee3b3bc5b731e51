// Transformer blocks that the executor computes in one go, within whole
// networks.
#include <gtest/gtest.h>

#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "temper/graph/build/builder.h"
#include "temper/graph/build/fill.h"
#include "temper/graph/fuse/fusion.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"
#include "tests/paths.h"

namespace temper::model {
namespace {

struct Passed {
  at::Tensor output;
  std::vector<at::Tensor> gradients; // in the order of parameters()
};

Passed through(
    const graph::Program& program,
    const at::Tensor& x,
    bool fuse,
    at::ScalarType type) {
  ExecutorOptions options;
  options.fuse = fuse;
  GraphModule module(program, options);
  module.to(type);
  Passed passed;
  const at::Tensor input = x.is_floating_point() ? x.to(type) : x;
  passed.output = module.forward({input});
  std::vector<at::Tensor> parameters;
  for (const NamedTensor& each : module.parameters())
    parameters.push_back(each.tensor);
  const at::Tensor loss = (passed.output * passed.output.detach().sin()).sum();
  passed.gradients = torch::autograd::grad({loss}, parameters);
  return passed;
}

double distance_of(const Passed& found, const Passed& exact) {
  double squares = 0;
  double all = 0;
  for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
    const at::Tensor off =
        found.gradients[i].to(at::kDouble) - exact.gradients[i];
    squares += off.square().sum().item<double>();
    all += exact.gradients[i].square().sum().item<double>();
  }
  return std::sqrt(squares / all);
}

// The gradients of all parameters no further from float64 than twice what
// LibTorch's own are.
void expect_trains_alike(const graph::Program& program, const at::Tensor& x) {
  const Passed exact = through(program, x, false, at::kDouble);
  const Passed usual = through(program, x, false, at::kFloat);
  const Passed fused = through(program, x, true, at::kFloat);
  EXPECT_LE(
      (fused.output - exact.output).norm().item<double>(),
      2 * (usual.output - exact.output).norm().item<double>() +
          1e-6 * exact.output.norm().item<double>());
  EXPECT_LE(distance_of(fused, exact), 2 * distance_of(usual, exact) + 1e-6);
  EXPECT_FALSE(at::equal(fused.output, usual.output)) << "nothing was fused";
}

std::size_t blocks_of(const graph::Program& program) {
  std::size_t count = 0;
  for (const graph::Fusion& group : graph::find_fusions(program.graph).groups)
    count += group.kind == graph::FusionKind::kTransformerBlock;
  return count;
}

TEST(TransformerBlocks, TrainTheZoosNetworksAsLibTorchDoes) {
  at::manual_seed(31);
  const graph::Program gpt =
      build({.name = "gpt_tiny", .context = 24, .vocabulary = 40});
  EXPECT_EQ(blocks_of(gpt), 4U);
  expect_trains_alike(gpt, at::randint(40, {3, 24}, at::kLong));
  const graph::Program vit =
      build({.name = "vit_tiny", .classes = 5, .image_size = 16});
  EXPECT_EQ(blocks_of(vit), 12U);
  expect_trains_alike(vit, at::randn({2, 3, 16, 16}));
}

TEST(TransformerBlocks, TrainAnExportedNetworkAsLibTorchDoes) {
  at::manual_seed(32);
  const graph::Program program =
      graph::read_pt2(tests::fixtures() / "pt2" / "attention.pt2");
  EXPECT_EQ(blocks_of(program), 1U);
  expect_trains_alike(program, at::randint(4, {2, 6}, at::kLong));
}

// So wide that no kernel takes the whole of it: its layers are fused then.
TEST(TransformerBlocks, OneThatIsTooLargeIsComputedByItsLayers) {
  at::manual_seed(33);
  constexpr std::int64_t kWide = 512;
  graph::Builder b("test");
  const graph::Value x = b.input("x", graph::DType::kFloat32, {3, kWide});
  graph::Value y = b.layer_norm("n1", x, 1e-5);
  y = b.linear("qkv", y, {.out = 3 * kWide});
  y = b.reshape("", y, {3, 3, 4, kWide / 4});
  const auto parts = b.unbind("", b.permute("", y, {2, 0, 3, 1, 4}));
  y = b.transpose("", b.attention("", parts[0], parts[1], parts[2]), 1, 2);
  y = b.linear("proj", b.reshape("", y, {3, kWide}), {.out = kWide});
  const graph::Value middle = b.add("", x, y);
  y = b.linear("fc1", b.layer_norm("n2", middle, 1e-5), {.out = 8 * kWide});
  y = b.linear("fc2", b.gelu("act", y), {.out = kWide});
  graph::Program program;
  const graph::Blueprint plan = b.finish(b.add("", middle, y));
  program.graph = plan.graph;
  for (const auto& [name, fill] : plan.fills) {
    std::vector<std::int64_t> sizes;
    for (const graph::Size& size :
         plan.graph.meta(plan.graph.find_target(name)->value).sizes)
      sizes.push_back(size.value);
    program.weights[name] =
        graph::draw(fill, graph::DType::kFloat32, sizes, 7, name);
  }
  EXPECT_EQ(blocks_of(program), 1U);
  expect_trains_alike(program, at::randn({2, 3, kWide}));
}

} // namespace
} // namespace temper::model
