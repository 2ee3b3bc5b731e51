#include "temper/train/forecast/step_memory.h"

#include <gtest/gtest.h>

#include "temper/model/zoo/zoo.h"

namespace temper::train {
namespace {

// 6 -> 8 -> 3, for a table.
graph::Program small_mlp() {
  model::ZooOptions options;
  options.name = "mlp";
  options.image_size = 1;
  options.channels = 6;
  options.widths = {8};
  options.classes = 3;
  return model::build(options);
}

constexpr std::uint64_t kParameters = (6 * 8 + 8 + 8 * 3 + 3) * 4;

config::Config sgd_with_momentum() {
  config::Config config;
  config.optimizer.name = "sgd";
  config.optimizer.momentum = 0.9;
  config.optimizer.weight_decay = 0;
  return config;
}

TEST(StepMemory, CountsWhatStaysWhateverTheBatch) {
  const StepBytes bytes =
      StepMemory(small_mlp(), sgd_with_momentum(), {}).at(100, 0);
  EXPECT_EQ(bytes.parameters, kParameters);
  EXPECT_EQ(bytes.gradients, kParameters);
  EXPECT_EQ(bytes.optimizer, kParameters);
  EXPECT_EQ(bytes.average, 0U);
  EXPECT_EQ(bytes.batch, 0U); // the loader's memory
}

TEST(StepMemory, CountsBuffersTwiceThatAStepChanges) {
  graph::Program program = small_mlp();
  graph::Graph& graph = program.graph;
  program.weights["mean"] =
      graph::make_tensor(graph::DType::kFloat32, {10}).data;
  graph.inputs.insert(
      graph.inputs.begin(), {graph::InputKind::kBuffer, "m", "mean"});
  graph::TensorMeta ten;
  ten.sizes = {10};
  ten.strides = {1};
  graph.tensors["m"] = ten;
  EXPECT_EQ(
      StepMemory(program, sgd_with_momentum(), {}).at(100, 0).parameters,
      kParameters + 40);
  graph.tensors["seen"] = graph.tensors["next"] = ten;
  graph::Node view;
  view.op = "aten.detach.default";
  view.inputs = {{"self", graph::TensorName{"m"}}};
  view.outputs = {graph::TensorName{"seen"}};
  graph::Node write = view;
  write.op = "aten.relu_.default";
  write.inputs = {{"self", graph::TensorName{"seen"}}};
  write.outputs = {graph::TensorName{"next"}};
  graph.nodes.insert(graph.nodes.begin(), {view, write});
  EXPECT_EQ(
      StepMemory(program, sgd_with_momentum(), {}).at(100, 0).parameters,
      kParameters + 80);
}

TEST(StepMemory, AdamHasTwoMomentsAndAnAverageIsACopy) {
  config::Config config = sgd_with_momentum();
  config.optimizer.name = "adamw";
  config.train.ema = 0.99;
  const StepBytes bytes = StepMemory(small_mlp(), config, {}).at(100, 0);
  EXPECT_EQ(bytes.optimizer, 2 * kParameters);
  EXPECT_EQ(bytes.average, kParameters);
}

TEST(StepMemory, ActivationsGrowWithTheSamplesAtOnce) {
  const StepMemory memory(small_mlp(), sgd_with_momentum(), {});
  const auto whole = memory.at(4000, 0).activations;
  const auto half = memory.at(4000, 2000).activations;
  EXPECT_NEAR(
      static_cast<double>(half) / static_cast<double>(whole), 0.5, 0.01);
}

TEST(StepMemory, ABatchOnADeviceIsACopy) {
  StepMemoryOptions options;
  options.device = "sim";
  const StepBytes bytes =
      StepMemory(small_mlp(), sgd_with_momentum(), options).at(100, 10);
  EXPECT_EQ(bytes.batch, 100U * (6 * 4 + 8)); // inputs and labels
}

} // namespace
} // namespace temper::train
