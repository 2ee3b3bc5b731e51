#include "temper/train/setup/run_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/model/zoo/zoo.h"

namespace temper::train {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

RunModel model_of(const model::ZooOptions& options) {
  RunModel made;
  made.name = options.name;
  made.program = model::build(options);
  return made;
}

plan::Setting fused() {
  plan::Setting setting;
  setting.layout = plan::Layout::channels_last;
  setting.kernels = plan::Kernels::fused;
  setting.threads = 2;
  return setting;
}

constexpr const char* kLoss = "cross_entropy";

TEST(RunKernels, ANetworkOfOurKernelsHasBitsForAnyThreads) {
  for (const char* name : {"mobilenet_v2", "resnet18"}) {
    const RunKernels found = kernels_of_run(
        {}, model_of({.name = name, .width = 0.25}), fused(), {kLoss, true});
    EXPECT_TRUE(found.any_threads) << bits_text(found);
    EXPECT_EQ(bits_text(found), "do not depend on threads");
    EXPECT_THAT(found.fused, HasSubstr(" BatchNorm, 1 of 1 linear fused"));
  }
}

TEST(RunKernels, GroupedAndFrozenNormsKeepThat) {
  RunModel model = model_of({.name = "resnet18", .width = 0.25});
  model.norm_group = 4;
  EXPECT_TRUE(kernels_of_run({}, model, fused(), {kLoss, true}).any_threads);
  model.norm_group = 0;
  for (const graph::Input& input : model.program->graph.inputs)
    if (input.kind == graph::InputKind::kBuffer)
      model.still_norms.push_back(input.target);
  EXPECT_TRUE(kernels_of_run({}, model, fused(), {kLoss, true}).any_threads);
}

TEST(RunKernels, WhateverElseAddsUpIsNamed) {
  const RunModel model = model_of({.name = "mlp", .widths = {8}});
  RunKernels found = kernels_of_run({}, model, fused(), {"mse", false});
  EXPECT_EQ(bits_text(found), "depend on threads: the loss mse is LibTorch's");
  plan::Setting setting = fused();
  setting.kernels = plan::Kernels::stock;
  found = kernels_of_run({}, model, setting, {kLoss, true});
  EXPECT_FALSE(found.any_threads);
  EXPECT_THAT(found.fused, IsEmpty());
  setting = fused();
  setting.device = "mps";
  EXPECT_FALSE(kernels_of_run({}, model, setting, {kLoss, true}).any_threads);
  setting = fused();
  setting.precision = plan::Precision::bf16;
  EXPECT_THAT(
      bits_text(kernels_of_run({}, model, setting, {kLoss, true})),
      HasSubstr("precision bf16"));
  RunModel opaque;
  opaque.name = "net.pt";
  EXPECT_FALSE(kernels_of_run({}, opaque, fused(), {kLoss, true}).any_threads);
}

TEST(RunKernels, MomentsInBf16AreLibTorchs) {
  config::Config config;
  config.optimizer.moments = "bf16";
  EXPECT_THAT(
      bits_text(kernels_of_run(
          config,
          model_of({.name = "mlp", .widths = {8}}),
          fused(),
          {kLoss, true})),
      HasSubstr("optimizer.moments is LibTorch's"));
}

TEST(RunKernels, AFewNodesAreNamedAndTheRestCounted) {
  RunKernels many;
  many.by_threads = {"a (sum)", "b (mean)", "c (matmul)", "d", "e"};
  EXPECT_EQ(
      bits_text(many),
      "depend on threads: a (sum), b (mean), c (matmul) and 2 more are "
      "LibTorch's");
  EXPECT_EQ(bits_text(RunKernels()), "depend on threads");
}

} // namespace
} // namespace temper::train
