#include "temper/model/executor/grouped_norm.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/passes.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/schedule/slices.h"

namespace temper::model {
namespace {

using testing::ElementsAre;

TEST(GroupedNorm, WhatIsLeftOverBelongsToTheLastGroup) {
  EXPECT_THAT(group_sizes(37, 8), ElementsAre(8, 8, 8, 13));
  EXPECT_THAT(group_sizes(16, 8), ElementsAre(8, 8));
  EXPECT_THAT(group_sizes(5, 8), ElementsAre(5));
}

TEST(GroupedNorm, SlicesNeverCutAGroup) {
  using train::slice_sizes;
  EXPECT_THAT(slice_sizes(37, 8, 8), ElementsAre(8, 8, 8, 13));
  EXPECT_THAT(slice_sizes(37, 16, 8), ElementsAre(16, 21));
  EXPECT_THAT(slice_sizes(37, 24, 8), ElementsAre(24, 13));
  EXPECT_THAT(slice_sizes(37, 0, 8), ElementsAre(37));
  EXPECT_THAT(slice_sizes(9, 8), ElementsAre(8, 1));
  EXPECT_THAT(slice_sizes(9, 8, 0), ElementsAre(8, 1));
}

graph::Program network() {
  ZooOptions options;
  options.name = "resnet18";
  options.stem = "cifar";
  options.width = 0.125;
  options.image_size = 8;
  options.classes = 3;
  return build(options);
}

struct Result {
  std::vector<at::Tensor> gradients;
  std::vector<at::Tensor> buffers;
};

// Two updates with the gradients of the second.
Result trained(const graph::Program& program, std::int64_t group, int at_once) {
  ExecutorOptions options;
  options.norm_group = group;
  GraphModule module(program, options);
  module.to(at::kDouble);
  at::manual_seed(3);
  Result made;
  for (int update = 0; update < 2; ++update) {
    const at::Tensor inputs =
        at::randn({37, 3, 8, 8}, at::TensorOptions().dtype(at::kDouble));
    for (const NamedTensor& each : module.parameters())
      at::Tensor(each.tensor).mutable_grad().reset();
    module.begin_update();
    std::int64_t begin = 0;
    for (const auto count : train::slice_sizes(37, at_once, group)) {
      const at::Tensor out = module.forward({inputs.narrow(0, begin, count)});
      out.mul(out).sum().backward();
      begin += count;
    }
    module.end_update();
  }
  for (const NamedTensor& each : module.parameters())
    made.gradients.push_back(each.tensor.grad().clone());
  for (const NamedTensor& each : module.buffers())
    made.buffers.push_back(each.tensor.clone());
  return made;
}

double apart(const Result& a, const Result& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.gradients.size(); ++i)
    most = std::max(
        most,
        a.gradients[i].sub(b.gradients[i]).norm().item<double>() /
            a.gradients[i].norm().item<double>());
  return most;
}

bool same_statistics(const Result& a, const Result& b) {
  for (std::size_t i = 0; i < a.buffers.size(); ++i)
    if (!at::equal(a.buffers[i], b.buffers[i])) return false;
  return true;
}

TEST(GroupedNorm, ResultsDoNotDependOnTheSplit) {
  const graph::Program program = network();
  const Result whole = trained(program, 4, 0);
  for (const int at_once : {4, 8, 12, 16, 20, 36}) {
    const Result split = trained(program, 4, at_once);
    EXPECT_LE(apart(whole, split), 1e-12) << at_once;
    EXPECT_TRUE(same_statistics(whole, split)) << at_once;
  }
  // The test can tell: without groups the split shows.
  EXPECT_GT(apart(trained(program, 0, 0), trained(program, 0, 8)), 1e-3);
}

TEST(GroupedNorm, OneGroupIsPlainBatchNorm) {
  const graph::Program program = network();
  const Result plain = trained(program, 0, 0);
  const Result grouped = trained(program, 64, 0);
  EXPECT_LE(apart(plain, grouped), 1e-12);
  for (std::size_t i = 0; i < plain.buffers.size(); ++i)
    EXPECT_TRUE(at::allclose(plain.buffers[i], grouped.buffers[i], 1e-12));
}

TEST(GroupedNorm, StatisticsAreThoseOfTheWholeUpdateAndMoveOnce) {
  const graph::Program program = network();
  const Result plain = trained(program, 0, 0);
  const Result grouped = trained(program, 4, 8);
  // The first layer sees the same input whatever the groups are.
  const GraphModule module(program);
  const auto names = module.buffers();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(at::allclose(plain.buffers[i], grouped.buffers[i], 1e-10))
        << names[i].name;
  EXPECT_EQ(grouped.buffers[2].item<std::int64_t>(), 2); // updates
}

TEST(GroupedNorm, WhatIsComputedAgainMovesStatisticsOnce) {
  const graph::Program program = network();
  const graph::Program again =
      graph::mark_recompute(program, {"layer*.*"}).program;
  const Result plain = trained(program, 4, 8);
  const Result twice = trained(again, 4, 8);
  EXPECT_LE(apart(plain, twice), 1e-12);
  EXPECT_TRUE(same_statistics(plain, twice));
}

// As decomposed exports have it.
graph::Program decomposed(const graph::Program& from) {
  graph::Program program = graph::switch_mode(from, true).program;
  for (graph::Node& node : program.graph.nodes)
    if (node.op == "aten.batch_norm.default") {
      node.op = "aten.native_batch_norm.default";
      graph::erase_argument(node, "cudnn_enabled");
      for (const char* more : {"saved_mean", "saved_invstd"}) {
        const std::string name = graph::free_name(program.graph, more);
        program.graph.tensors[name] = program.graph.meta("b_bn1_running_mean");
        node.outputs.push_back(graph::TensorName{name});
      }
    }
  return program;
}

TEST(GroupedNorm, OtherFormsOfBatchNormAreGroupedToo) {
  const graph::Program program = network();
  const Result plain = trained(program, 4, 8);
  const Result other = trained(decomposed(program), 4, 8);
  EXPECT_LE(apart(plain, other), 1e-12);
  EXPECT_TRUE(same_statistics(plain, other));
}

TEST(GroupedNorm, AFailedUpdateIsForgotten) {
  const graph::Program program = network();
  ExecutorOptions options;
  options.norm_group = 4;
  GraphModule module(program, options);
  const at::Tensor before = module.buffers()[0].tensor.clone();
  module.begin_update();
  module.forward({at::randn({8, 3, 8, 8})});
  EXPECT_TRUE(at::equal(module.buffers()[0].tensor, before));
  module.begin_update();
  module.end_update();
  EXPECT_TRUE(at::equal(module.buffers()[0].tensor, before));
}

TEST(GroupedNorm, AGroupOfOneValueAChannelIsRefused) {
  ExecutorOptions options;
  options.norm_group = 1;
  GraphModule module(network(), options); // ends with one pixel
  EXPECT_THROW(module.forward({at::randn({2, 3, 8, 8})}), Error);
}

TEST(GroupedNorm, EvaluationUsesTheRunningStatistics) {
  const graph::Program program = network();
  ExecutorOptions options;
  options.norm_group = 4;
  GraphModule grouped(program, options);
  GraphModule plain(program);
  grouped.set_training(false);
  plain.set_training(false);
  const at::Tensor inputs = at::randn({9, 3, 8, 8});
  EXPECT_TRUE(at::equal(grouped.forward({inputs}), plain.forward({inputs})));
}

} // namespace
} // namespace temper::model
