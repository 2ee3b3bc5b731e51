// `temper model` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"
#include "tests/cli/run_temper.h"
#include "tests/paths.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ProcessResult show(std::vector<std::string> arguments, int columns = 100) {
  arguments.insert(arguments.begin(), {"model", "show"});
  return tests::run_temper(
      {"env", "COLUMNS=" + std::to_string(columns)}, arguments);
}

std::string fixture(const std::string& name) {
  return (tests::fixtures() / "pt2" / cat(name, ".pt2")).string();
}

TEST(ModelCommand, ShowsAFileModuleByModule) {
  const auto shown = show({fixture("cnn")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(
      shown.out,
      AllOf(
          HasSubstr("cnn.pt2: "),
          HasSubstr("PyTorch 2."),
          HasSubstr("conv2d"),
          HasSubstr("MACs/sample"),
          HasSubstr("all trainable"),
          HasSubstr("peak, train")));
}

TEST(ModelCommand, ShowsAModelOfTheZoo) {
  const auto shown =
      show({"resnet18", "--batch", "8", "--image-size", "64", "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto all = nlohmann::json::parse(shown.out);
  EXPECT_EQ(all["parameters"], 11689512);
  EXPECT_EQ(all["batch"], 8);
  EXPECT_EQ(all["inputs"][0]["sizes"], nlohmann::json({8, 3, 64, 64}));
  EXPECT_FALSE(all.contains("nodes"));
}

TEST(ModelCommand, DepthAndNodesChooseTheRows) {
  const auto shallow = show({"resnet18", "--depth", "1"});
  EXPECT_THAT(shallow.out, HasSubstr("layer1 "));
  EXPECT_THAT(shallow.out, Not(HasSubstr("layer1.0")));
  const auto nodes = show({fixture("cnn"), "--nodes"});
  EXPECT_THAT(nodes.out, HasSubstr(".py:"));
}

TEST(ModelCommand, FitsTheTerminal) {
  for (const int columns : {40, 72, 120})
    for (const auto& line : split(show({"resnet18"}, columns).out, '\n'))
      EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
}

TEST(ModelCommand, AnUnknownModelGetsTheNearestOne) {
  const auto wrong = show({"resnet81"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("Did you mean: resnet18?"));
  EXPECT_THAT(show({"xyzzy"}).err, HasSubstr("mobilenet_v2"));
}

TEST(ModelCommand, AMissingFileIsSaidInOneSentence) {
  const auto missing = show({"nowhere/net.pt2"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere/net.pt2"));
}

TEST(ModelCommand, AFileWithoutAGraphIsToldApart) {
  const fs::path file = fs::temp_directory_path() /
      cat("temper-model-", ::getpid(), ".safetensors");
  fs::copy_file(fixture("cnn"), file);
  const auto wrong = show({file.string()});
  fs::remove(file);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("torch.export"));
}

TEST(ModelCommand, AFixedBatchIsExplained) {
  EXPECT_EQ(show({fixture("cnn_fixed_batch")}).code, 0);
  EXPECT_THAT(
      show({fixture("cnn_fixed_batch")}).out, HasSubstr("a fixed batch of"));
  const auto wrong = show({fixture("cnn_fixed_batch"), "--batch", "77"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("dynamic_shapes"));
}

TEST(ModelCommand, AnotherBatchReachesEveryShape) {
  EXPECT_THAT(show({fixture("cnn"), "--batch", "37"}).out, HasSubstr("[37, "));
  EXPECT_EQ(show({fixture("cnn"), "--batch", "0"}).code, 2);
  EXPECT_EQ(show({fixture("cnn"), "--batch", "99999999999999999"}).code, 1);
}

TEST(ModelCommand, AnImageSizeThatTheFileHasNotIsExplained) {
  const auto wrong = show({fixture("cnn"), "--image-size", "97"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("pixels only"));
}

TEST(ModelCommand, WrongUseIsUsage) {
  EXPECT_EQ(tests::run_temper({}, {"model"}).code, 2);
  const auto action = tests::run_temper({}, {"model", "shwo", "resnet18"});
  EXPECT_EQ(action.code, 2);
  EXPECT_THAT(action.err, HasSubstr("temper model show"));
  EXPECT_EQ(show({}).code, 2);
  EXPECT_EQ(show({fixture("cnn"), "--classes", "3"}).code, 2);
  EXPECT_EQ(show({"resnet18", "--depth", "-1"}).code, 2);
}

TEST(ModelCommand, TheManualHoldsFlagsAndZoo) {
  const auto manual = tests::run_temper({}, {"help", "model"});
  EXPECT_EQ(manual.code, 0);
  for (const char* part :
       {"--batch", "--nodes", "--depth", "--json", "resnet50", "Exit codes:"})
    EXPECT_THAT(manual.out, HasSubstr(part));
}

} // namespace
} // namespace temper
