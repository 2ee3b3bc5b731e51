#include "temper/track/mlflow/mlflow_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/python.h"
#include "tests/temp_folder.h"

namespace temper::track {
namespace {

using nlohmann::json;

class MlflowModelTest : public testing::Test {
 protected:
  void write(const ModelFacts& facts) {
    write_mlflow_model(folder_.path(), facts);
  }
  // As MLflow reads it: with PyYAML.
  json mlmodel() {
    const auto read = tests::run_python(
        {python_.value(),
         "-c",
         "import yaml,json,sys; "
         "json.dump(yaml.safe_load(sys.stdin), sys.stdout)"},
        tests::read_bytes(folder_ / "MLmodel"));
    return read.succeeded() ? json::parse(read.out) : json();
  }

  tests::TempFolder folder_;
  std::optional<std::string> python_ = tests::python_that_runs("import yaml");
};

TEST_F(MlflowModelTest, IsWhatMlflowsFlavoursLoad) {
  if (!python_) GTEST_SKIP() << "there is no Python with PyYAML";
  write({{-1, 3, 8, 8}, {-1, 10}, "float32", "float32", "1.13.1"});
  const json model = mlmodel();
  const json& python = model["flavors"]["python_function"];
  EXPECT_EQ(python["loader_module"], "temper_model");
  EXPECT_EQ(python["code"], "code");
  EXPECT_EQ(python["data"], "model.pt2");
  EXPECT_EQ(
      model["model_id"].get<std::string>(),
      "m-" + model["model_uuid"].get<std::string>());
  EXPECT_EQ(model["flavors"]["pytorch"]["model_data"], "data");
  EXPECT_EQ(model["flavors"]["pytorch"]["pytorch_version"], "1.13.1");
  EXPECT_EQ(
      json::parse(model["signature"]["inputs"].get<std::string>()),
      json::parse(
          R"([{"type":"tensor",
               "tensor-spec":{"dtype":"float32","shape":[-1,3,8,8]}}])"));
  EXPECT_EQ(
      json::parse(model["signature"]["outputs"]
                      .get<std::string>())[0]["tensor-spec"]["shape"],
      json({-1, 10}));
  EXPECT_EQ(
      tests::read_bytes(folder_ / "data/pickle_module_info.txt"),
      "mlflow.pytorch.pickle_module");
  const json example =
      json::parse(tests::read_bytes(folder_ / "input_example.json"));
  EXPECT_EQ(example.size(), 1U);
  EXPECT_EQ(example[0].size(), 3U);
  EXPECT_EQ(example[0][0][7].size(), 8U);
  EXPECT_TRUE(example[0][0][0][0].is_number_float());
  EXPECT_EQ(
      json::parse(
          tests::read_bytes(folder_ / "serving_input_example.json"))["inputs"],
      example);
}

TEST_F(MlflowModelTest, TheSchemaIsBesideTheModelAndInItsMetadata) {
  const std::string schema = "{\n \"classes\": [\"it's a cat\", \"dog\"]\n}\n";
  write({{-1, 3, 8, 8}, {-1, 2}, "float32", "float32", "1.13.1", true, schema});
  EXPECT_EQ(tests::read_bytes(folder_ / "schema.json"), schema);
  if (!python_) GTEST_SKIP() << "there is no Python with PyYAML";
  EXPECT_EQ(
      json::parse(
          mlmodel()["metadata"]["temper_schema"].get<std::string>())["classes"],
      json({"it's a cat", "dog"}));
}

TEST_F(MlflowModelTest, TokensAreWholeNumbersAndHugeExamplesAreLeftOut) {
  write({{-1, 4}, {-1, 4, 10}, "int64", "float32", "2.14.0"});
  EXPECT_EQ(tests::read_bytes(folder_ / "input_example.json"), "[[0,0,0,0]]");
  tests::TempFolder large;
  write_mlflow_model(
      large.path(), {{-1, 3, 4096, 4096}, {-1, 10}, "float32", "float32", "2"});
  EXPECT_FALSE(std::filesystem::exists(large / "input_example.json"));
}

TEST_F(MlflowModelTest, NeedsNoTorchScript) {
  ModelFacts facts{{-1, 4}, {-1, 2}, "float32", "float32", "2.14.0"};
  facts.torchscript = false;
  write(facts);
  const std::string text = tests::read_bytes(folder_ / "MLmodel");
  EXPECT_THAT(text, testing::HasSubstr("python_function"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("pytorch")));
  const auto tag =
      model_history_tag({folder_ / "MLmodel", "model/MLmodel", 0, 0}, "run-1");
  EXPECT_FALSE(json::parse(tag->value)[0]["flavors"].contains("pytorch"));
}

// The loader without MLflow: Python runs it on a module of its own making.
TEST_F(MlflowModelTest, TheLoaderFeedsRowsAndGivesNumbers) {
  const auto python = tests::python_that_runs("import torch, numpy");
  if (!python) GTEST_SKIP() << "there is no Python with PyTorch";
  write({{-1, 4}, {-1, 2}, "float32", "float32", "1.13.1"});
  const auto result = tests::run_python(
      {*python,
       "-c",
       "import sys, torch, numpy\n"
       "folder = sys.argv[1]\n"
       "class Twice(torch.nn.Module):\n"
       "    def forward(self, x): return (x * 2, x)\n"
       "torch.jit.trace(Twice(), torch.zeros(2, 4)).save("
       "folder + '/data/model.pth')\n"
       "if hasattr(torch, 'export') and hasattr(torch.export, 'save'):\n"
       "    torch.export.save(torch.export.export(Twice(), "
       "(torch.zeros(2, 4),)), folder + '/model.pt2')\n"
       "sys.path.insert(0, folder + '/code')\n"
       "import temper_model\n"
       "model = temper_model._load_pyfunc(folder + '/model.pt2')\n"
       "rows = [[1.0, 2, 3, 4], [5, 6, 7, 8]]\n"
       "assert (model.predict(rows) == 2 * numpy.array(rows)).all()\n"
       "assert (model.predict({'x': numpy.array(rows)}) "
       "== 2 * numpy.array(rows)).all()\n",
       folder_.path().string()});
  EXPECT_TRUE(result.succeeded()) << result.err;
}

TEST_F(MlflowModelTest, ARunsModelsAreATag) {
  write({{-1, 4}, {-1, 2}, "float32", "float32", "1.13.1"});
  const auto tag =
      model_history_tag({folder_ / "MLmodel", "model/MLmodel", 0, 0}, "run-1");
  ASSERT_TRUE(tag);
  EXPECT_EQ(tag->key, "mlflow.log-model.history");
  const json list = json::parse(tag->value);
  EXPECT_EQ(list[0]["run_id"], "run-1");
  EXPECT_EQ(list[0]["artifact_path"], "model");
  EXPECT_EQ(list[0]["flavors"]["pytorch"]["pytorch_version"], "1.13.1");
  EXPECT_EQ(list[0]["model_uuid"].get<std::string>().size(), 32U);
  EXPECT_FALSE(model_history_tag({folder_ / "x", "x.txt", 0, 0}, "run-1"));
}

} // namespace
} // namespace temper::track
