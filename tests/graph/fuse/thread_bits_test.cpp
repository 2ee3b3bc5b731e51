#include "temper/graph/fuse/thread_bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/model/zoo/zoo.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> by_threads(
    const Graph& graph,
    const FusionOptions& options = {}) {
  std::vector<std::string> found;
  for (const std::size_t node :
       thread_dependent_nodes(graph, find_fusions(graph, options)))
    found.push_back(layer_name(graph.nodes[node]));
  return found;
}

Graph zoo_graph(const char* name) {
  return model::blueprint({.name = name}).graph;
}

TEST(ThreadBits, ConvolutionalNetworksOfTheZooDependOnNone) {
  for (const char* name : {"mobilenet_v2", "resnet18", "resnet50", "cnn"})
    EXPECT_THAT(by_threads(zoo_graph(name)), IsEmpty()) << name;
}

TEST(ThreadBits, WithoutKernelsEveryLayerThatAddsUpIsNamed) {
  const Graph graph = zoo_graph("cnn");
  std::vector<std::string> found;
  for (const std::size_t node : thread_dependent_nodes(graph, {}))
    found.push_back(layer_name(graph.nodes[node]));
  EXPECT_THAT(found, ElementsAre("conv (conv2d)", "fc (linear)"));
}

// The gradient of a position's embedding is a sum over the batch.
TEST(ThreadBits, AParameterThatIsSpreadOverTheBatchIsNamed) {
  EXPECT_THAT(by_threads(zoo_graph("gpt_tiny")), testing::Not(IsEmpty()));
}

TEST(ThreadBits, ASumOfBranchesIsNoSumOverManyNumbers) {
  Builder b{"test"};
  const Value x = b.input("x", DType::kFloat32, {8, 6, 6});
  const Value twice = b.add("", b.relu("r", x), b.relu("r2", x));
  EXPECT_THAT(by_threads(b.finish(twice).graph), IsEmpty());
}

// LibTorch computes the last few elements of a thread's share by another
// version of the function.
TEST(ThreadBits, AFunctionOfManyRoundingsIsNamedUnlessAKernelHasIt) {
  Builder b{"test"};
  const Value x = b.input("x", DType::kFloat32, {8});
  const Value y = b.linear("fc", b.gelu("alone", x), {.out = 8});
  EXPECT_THAT(
      by_threads(b.finish(b.gelu("behind", y)).graph),
      ElementsAre("alone (gelu)"));
}

TEST(ThreadBits, AnOperatorsPageSaysWhetherThreadsMatter) {
  const auto threads = [](const char* op) {
    return find_operator(op_name(op))->threads;
  };
  for (const char* op : {"aten.relu_.default", "aten.view.default"})
    EXPECT_EQ(threads(op), Threads::kDoNotMatter) << op;
  for (const char* op : {"aten.exp.default", "aten.sum.dim_IntList"})
    EXPECT_EQ(threads(op), Threads::kMatter) << op;
  EXPECT_EQ(threads("aten.mul.Tensor"), Threads::kMatterWhereSpread);
}

TEST(ThreadBits, ALayerThatIsLeftToLibTorchIsNamed) {
  Builder b{"test"};
  const Value x = b.input("x", DType::kFloat32, {8, 6, 6});
  const Value y =
      b.conv2d("wide", x, {.out = 8, .kernel = 3, .padding = 1, .groups = 2});
  EXPECT_THAT(by_threads(b.finish(y).graph), ElementsAre("wide (conv2d)"));
}

TEST(ThreadBits, BatchNormOverGroupsOfSamplesIsOursToo) {
  FusionOptions options;
  options.norms_stay_alone = true;
  EXPECT_THAT(by_threads(zoo_graph("resnet18"), options), IsEmpty());
}

} // namespace
} // namespace temper::graph
