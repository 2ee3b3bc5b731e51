#include "temper/track/mlflow_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "temper/base/process.h"
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
    const auto read = run_process(
        {"python3",
         "-c",
         "import yaml,json,sys; "
         "json.dump(yaml.safe_load(sys.stdin), sys.stdout)"},
        tests::read_bytes(folder_ / "MLmodel"));
    return read.succeeded() ? json::parse(read.out) : json();
  }

  tests::TempFolder folder_;
};

TEST_F(MlflowModelTest, IsWhatThePytorchFlavourLoads) {
  if (!run_process({"python3", "-c", "import yaml"}).succeeded())
    GTEST_SKIP() << "there is no Python with PyYAML";
  write({{-1, 3, 8, 8}, {-1, 10}, "float32", "float32", "1.13.1"});
  const json model = mlmodel();
  const json& python = model["flavors"]["python_function"];
  EXPECT_EQ(python["loader_module"], "mlflow.pytorch");
  EXPECT_EQ(python["pickle_module_name"], "mlflow.pytorch.pickle_module");
  EXPECT_EQ(python["data"], "data");
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

TEST_F(MlflowModelTest, TokensAreWholeNumbersAndHugeExamplesAreLeftOut) {
  write({{-1, 4}, {-1, 4, 10}, "int64", "float32", "2.14.0"});
  EXPECT_EQ(tests::read_bytes(folder_ / "input_example.json"), "[[0,0,0,0]]");
  tests::TempFolder large;
  write_mlflow_model(
      large.path(), {{-1, 3, 4096, 4096}, {-1, 10}, "float32", "float32", "2"});
  EXPECT_FALSE(std::filesystem::exists(large / "input_example.json"));
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
