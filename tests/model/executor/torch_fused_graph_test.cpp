// Whole networks on kernels of our own, in the ways a run may train them. Both
// they and LibTorch's operators are held against float64. Where a ReLU's input
// is near zero a rounding may flip it, so networks are tried with an activation
// that has no kink, too, where a rounding stays one.
#include <gtest/gtest.h>

#include <algorithm>

#include "temper/graph/pass/passes.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"

namespace temper::model {
namespace {

graph::Program small_network_of_layers(const std::string& name) {
  ZooOptions options;
  options.name = name;
  options.width = 0.25;
  options.image_size = 16;
  options.classes = 5;
  options.stem = "cifar"; // planes do not shrink to a pixel
  return build(options);
}

struct Way {
  std::string what;
  graph::Program program;
  ExecutorOptions options;
};

graph::Program without_kinks(graph::Program program) {
  for (graph::Node& node : program.graph.nodes)
    if (node.op.starts_with("aten.relu") ||
        node.op.starts_with("aten.hardtanh")) {
      const bool in_place = node.op.find("_.") != std::string::npos;
      node.op = in_place ? "aten.silu_.default" : "aten.silu.default";
      node.inputs.resize(1); // without hardtanh's bounds
    }
  return program;
}

std::vector<Way> ways(const std::string& name, const graph::Program& program) {
  std::vector<Way> all{{name, program, {}}};
  Way grouped{name + " with BatchNorm in groups", program, {}};
  grouped.options.norm_group = 8;
  all.push_back(grouped);
  Way still{name + " with still BatchNorm", program, {}};
  for (const graph::Input& input : program.graph.inputs)
    if (input.kind == graph::InputKind::kBuffer)
      still.options.still_norms.push_back(input.target);
  all.push_back(still);
  const std::string part = name.starts_with("resnet") ? "layer2" : "features.3";
  all.push_back(
      {name + " with a part computed again",
       graph::mark_recompute(program, {part}).program,
       {}});
  all.push_back(
      {name + " with a part frozen",
       graph::freeze(program, {part + ".*"}).program,
       {}});
  return all;
}

// One vector of all gradients, and the running statistics behind them.
at::Tensor gradient(const Way& way, bool fuse, at::ScalarType type, int seed) {
  ExecutorOptions options = way.options;
  options.fuse = fuse;
  GraphModule module(way.program, std::move(options));
  module.to(type);
  module.set_training(true);
  at::manual_seed(seed);
  const at::Tensor x = at::randn({16, 3, 16, 16})
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .to(type);
  const at::Tensor goal = at::randn({16, 5}).to(type);
  module.begin_update();
  module.forward({x}).mul(goal).sum().backward();
  module.end_update();
  std::vector<at::Tensor> all;
  for (const NamedTensor& each : module.parameters())
    if (each.tensor.grad().defined())
      all.push_back(each.tensor.grad().reshape({-1}).to(at::kDouble));
  for (const NamedTensor& each : module.buffers())
    if (each.tensor.is_floating_point())
      all.push_back(each.tensor.reshape({-1}).to(at::kDouble));
  return at::cat(all);
}

struct Distances {
  std::vector<double> ours; // from float64, of each draw
  std::vector<double> theirs;
};

Distances distances(const Way& way, int draws) {
  Distances found;
  bool other_bits = false;
  for (int seed = 1; seed <= draws; ++seed) {
    const at::Tensor exact = gradient(way, false, at::kDouble, seed);
    const at::Tensor stock = gradient(way, false, at::kFloat, seed);
    const at::Tensor fused = gradient(way, true, at::kFloat, seed);
    EXPECT_EQ(fused.sizes(), exact.sizes());
    const auto size = exact.norm().item<double>();
    found.ours.push_back((fused - exact).norm().item<double>() / size);
    found.theirs.push_back((stock - exact).norm().item<double>() / size);
    other_bits = other_bits || !at::equal(fused, stock);
  }
  EXPECT_TRUE(other_bits) << "no kernel of our own computed anything";
  return found;
}

// Float32 has 24 bits: a few of them are what a layer may cost.
constexpr double kFewRoundings = 16.0 / (1 << 24);

// Where a rounding takes an activation to the other side of its kink, the
// gradient moves a thousand times as far as roundings alone move it, in the one
// or in the other, by chance: our luckiest draw is held against what LibTorch's
// unluckiest shows of kinks.
void expect_parity_beside_kinks(const Way& way) {
  SCOPED_TRACE(way.what);
  const Distances found = distances(way, 3);
  EXPECT_LE(
      *std::ranges::min_element(found.ours),
      3 * *std::ranges::max_element(found.theirs) + kFewRoundings);
}

void expect_parity_of_each_draw(const Way& way) {
  SCOPED_TRACE(way.what);
  const Distances found = distances(way, 2);
  for (std::size_t i = 0; i < found.ours.size(); ++i)
    EXPECT_LE(found.ours[i], 3 * found.theirs[i] + kFewRoundings);
}

class FusedGraph : public testing::TestWithParam<const char*> {
 protected:
  const graph::Program program_ = small_network_of_layers(GetParam());
};

TEST_P(FusedGraph, HasTheGradientOfLibTorchsHoweverItTrains) {
  for (const Way& way : ways(GetParam(), program_))
    expect_parity_beside_kinks(way);
}

TEST_P(FusedGraph, WithoutKinksIsAsExactAsLibTorchsHoweverItTrains) {
  for (const Way& way : ways(GetParam(), without_kinks(program_)))
    expect_parity_of_each_draw(way);
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    FusedGraph,
    testing::Values("mobilenet_v2", "resnet18", "resnet50"));

// Every group is normalised by itself: how a batch is cut between groups
// changes no bit of the running statistics.
TEST(FusedGroups, StatisticsAreTheSameForEverySplit) {
  const auto statistics = [](std::int64_t at_once) {
    ExecutorOptions options;
    options.fuse = true;
    options.norm_group = 4;
    GraphModule module(small_network_of_layers("resnet18"), std::move(options));
    module.set_training(true);
    at::manual_seed(9);
    const at::Tensor x = at::randn({16, 3, 16, 16});
    module.begin_update();
    for (std::int64_t begin = 0; begin < 16; begin += at_once)
      module.forward({x.narrow(0, begin, at_once)}).sum().backward();
    module.end_update();
    std::vector<at::Tensor> all;
    for (const NamedTensor& each : module.buffers())
      all.push_back(each.tensor.reshape({-1}).to(at::kDouble));
    return at::cat(all);
  };
  const at::Tensor whole = statistics(16);
  EXPECT_TRUE(at::equal(statistics(8), whole));
  EXPECT_TRUE(at::equal(statistics(4), whole));
}

} // namespace
} // namespace temper::model
