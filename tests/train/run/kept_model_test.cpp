// A run carries its model: with a checkpoint's weights it is the trained one,
// whatever became of data and files.
#include "temper/train/run/kept_model.h"

#include <gtest/gtest.h>

#include <cstring>

#include "temper/graph/pass/passes.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/setup/freeze.h"
#include "temper/weights/load_weights.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

graph::Program small_network() {
  model::ZooOptions options;
  options.name = "cnn";
  options.image_size = 8;
  options.channels = 1;
  options.classes = 3;
  return model::build(options);
}

TEST(KeptModel, ItsGraphAndTheWeightsOfElsewhereAreTheModel) {
  const tests::TempFolder folder;
  const journal::RunDirectory run{folder.path()};
  RunModel model;
  model.program = small_network();
  keep_model(model, run);
  const auto kept = kept_model(run);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->graph.inputs, model.program->graph.inputs);
  EXPECT_EQ(kept->graph.outputs, model.program->graph.outputs);
  EXPECT_EQ(kept->graph.tensors, model.program->graph.tensors);
  EXPECT_EQ(kept->graph.nodes.size(), model.program->graph.nodes.size());
  const auto loaded =
      weights::load_weights(*kept, model.program->weights, "here").program;
  for (const auto& [name, tensor] : model.program->weights)
    EXPECT_EQ(
        std::memcmp(
            loaded.weights.at(name).bytes.get(),
            tensor.bytes.get(),
            tensor.byte_count),
        0)
        << name;
}

TEST(KeptModel, WhatWasFrozenForTheRunIsNotFrozenInWhatIsKept) {
  const tests::TempFolder folder;
  const journal::RunDirectory run{folder.path()};
  RunModel model;
  model.unfrozen = small_network();
  model.program = freeze_model(*model.unfrozen, {"backbone"}).program;
  keep_model(model, run);
  EXPECT_EQ(kept_model(run)->graph.inputs, small_network().graph.inputs);
  EXPECT_NE(model.program->graph.inputs, small_network().graph.inputs);
}

TEST(KeptModel, AModelWithoutAGraphLeavesNoFile) {
  const tests::TempFolder folder;
  const journal::RunDirectory run{folder.path()};
  keep_model({}, run);
  EXPECT_FALSE(std::filesystem::exists(run.model()));
  EXPECT_FALSE(kept_model(run));
}

// The first start wrote it; going on with the run leaves it as it is.
TEST(KeptModel, IsWrittenOnce) {
  const tests::TempFolder folder;
  const journal::RunDirectory run{folder.path()};
  tests::write_bytes(run.model(), "as it was");
  RunModel model;
  model.program = small_network();
  keep_model(model, run);
  EXPECT_EQ(tests::read_bytes(run.model()), "as it was");
}

} // namespace
} // namespace temper::train
