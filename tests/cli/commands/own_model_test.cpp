// `temper train` on .pt2 files as torch.export writes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "temper/base/text.h"
#include "temper/graph/build/builder.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/init.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"
#include "tests/torture/training.h"

namespace temper {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OwnModel : public testing::Test {
 protected:
  ProcessResult train(
      const std::string& name,
      const std::vector<std::string>& keys) const {
    std::vector<std::string> all{"train"};
    std::vector<std::string> common{
        "run.dir=" + folder_.text("runs"),
        "run.name=" + name,
        "device=cpu",
        "threads=1",
        "plan.seconds=0",
        "schedule.name=constant",
        "data.source=synthetic:images=64,size=8,classes=4",
        "model.name=" + folder_.text("net.pt2")};
    common.insert(common.end(), keys.begin(), keys.end());
    for (const std::string& key : common) {
      all.emplace_back("--set");
      all.push_back(key);
    }
    return tests::run_temper({}, all);
  }

  tests::TempFolder folder_;
};

TEST_F(OwnModel, TiedWeightsAreTrackedExportedAndGoneOnWith) {
  torture::write_tied_network(folder_ / "net.pt2");
  const std::string store = cat("track.mlflow=", folder_.text("mlruns"));
  const auto first = train("a", {store, "train.epochs=1"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, Not(HasSubstr("not kept")));
  const auto model = folder_ / "runs/a/artifacts/model/model.pt2";
  ASSERT_TRUE(std::filesystem::exists(model)) << first.err;
  const auto tracked = graph::read_pt2(model).weights;
  EXPECT_EQ(
      tracked.at("again.weight").bytes, tracked.at("and_again.weight").bytes);

  const auto exported = tests::run_temper(
      {}, {"export", folder_.text("runs/a"), "--to", folder_.text("out.pt2")});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const auto weights = graph::read_pt2(folder_ / "out.pt2").weights;
  EXPECT_EQ(
      weights.at("again.weight").bytes, weights.at("and_again.weight").bytes);

  const auto stopped =
      train("b", {"track.mlflow=off", "train.max_steps=4", "train.batch=8"});
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  const auto resumed = tests::run_temper(
      {},
      {"train",
       "--resume",
       folder_.text("runs/b"),
       "--set",
       "train.max_steps=6"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

// The network of the torture, as an export without dynamic_shapes has it.
void fix_batch(const std::filesystem::path& path, bool in_its_nodes) {
  graph::Program net = graph::read_pt2(path);
  for (auto& [name, meta] : net.graph.tensors) {
    for (graph::Size& size : meta.sizes)
      size = graph::Size(size.value);
    for (graph::Size& stride : meta.strides)
      stride = graph::Size(stride.value);
  }
  net.graph.symbols.clear();
  for (graph::Node& node : net.graph.nodes)
    if (in_its_nodes && contains(node.op, "flatten")) {
      const auto& sizes =
          net.graph.meta(std::get<graph::TensorName>(node.outputs[0]).name)
              .sizes;
      node.op = "aten.view.default";
      node.inputs.resize(1);
      node.inputs.push_back(
          {"size", graph::Ints{sizes[0].value, sizes[1].value}, false});
    }
  graph::write_pt2(net, path);
}

TEST_F(OwnModel, AFixedBatchThatNothingDependsOnIsAny) {
  torture::write_small_network(folder_ / "net.pt2");
  fix_batch(folder_ / "net.pt2", false);
  const auto run =
      train("a", {"track.mlflow=off", "train.epochs=1", "train.batch=10"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("it takes any"));
  EXPECT_THAT(
      tests::read_bytes(folder_ / "runs/a/config.toml"),
      HasSubstr("batch = 10"));
}

TEST_F(OwnModel, AFixedBatchTrainsAndValidatesEverySample) {
  torture::write_small_network(folder_ / "net.pt2");
  fix_batch(folder_ / "net.pt2", true);
  const auto net = graph::read_pt2(folder_ / "net.pt2").graph;
  const auto batch = graph::fixed_batch(net);
  ASSERT_GT(batch, 1);
  // 61 samples, 12 of them to validate on: neither is a multiple of it.
  const auto run = train(
      "a",
      {"track.mlflow=off",
       "train.epochs=2",
       "data.source=synthetic:images=61,size=8,classes=4",
       "data.val_fraction=0.2"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr(cat("batches of exactly ", batch)), HasSubstr("left out")));
  EXPECT_THAT(
      tests::read_bytes(folder_ / "runs/a/config.toml"),
      HasSubstr(cat("batch = ", batch)));
  EXPECT_THAT(run.out, HasSubstr("val_accuracy"));
}

TEST_F(OwnModel, AnAutoencoderTakesLabelledImages) {
  graph::Builder b("temper test");
  const graph::Value x = b.input("x", graph::DType::kFloat32, {3, 8, 8});
  const graph::Value y =
      b.conv2d("conv", x, {.out = 3, .kernel = 3, .padding = 1});
  graph::write_pt2(model::initialise(b.finish(y), 7), folder_ / "net.pt2");
  const auto run = train(
      "a",
      {"track.mlflow=off",
       "train.epochs=1",
       "train.task=autoencode",
       "data.source=synthetic:images=64,size=8,classes=9"});
  EXPECT_EQ(run.code, 0) << run.err;
}

} // namespace
} // namespace temper
