#include "temper/model/weights_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/model/export.h"
#include "temper/model/safetensors.h"
#include "temper/model/zoo.h"
#include "tests/paths.h"
#include "weights_files.h"

namespace temper::model {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return cat(error.what(), "\n", error.hint());
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

TEST(WeightsFile, EveryKindOfFileIsKnownByWhatItIs) {
  const WeightsPlace place;
  const fs::path data = tests::fixtures();
  write_safetensors({{"a", floats({1}, {1})}}, place / "odd.name");
  EXPECT_EQ(read_weights(place / "odd.name").weights.count("a"), 1U);
  const auto pth = read_weights(data / "pth" / "wrapped.pth");
  EXPECT_EQ(pth.weights.count("0.weight"), 1U);
  EXPECT_THAT(pth.name, HasSubstr("wrapped.pth (its state_dict)"));
  EXPECT_FALSE(read_weights(data / "pt2" / "cnn.pt2").weights.empty());
  EXPECT_THAT(
      refusal([&] { read_weights(data / "pth" / "legacy.pth"); }),
      HasSubstr("before 1.6"));
  EXPECT_THAT(
      refusal([&] { read_weights(place / "none"); }), HasSubstr("there is no"));
}

TEST(WeightsFile, ARunsFolderHasItsLatestCheckpoint) {
  const WeightsPlace place;
  EXPECT_THAT(
      refusal([&] { read_weights(place / "."); }),
      HasSubstr("folder without weights"));
  fs::create_directories(place / "checkpoints/step-20");
  write_safetensors(
      {{"a", floats({1}, {20})}},
      place / "checkpoints/step-20/state.safetensors");
  place.write("checkpoints/latest", "step-20\n");
  EXPECT_EQ(
      floats_in(read_weights(place / ".").weights.at("a")),
      std::vector<float>{20});
  EXPECT_EQ(read_weights(place / "checkpoints/step-20").weights.count("a"), 1U);
  place.write("checkpoints/latest", "../checkpoints/step-20");
  EXPECT_THROW(read_weights(place / "."), Error);
}

TEST(WeightsFile, ACheckpointsWeightsAreTheModelsAveragedWhereTheyAre) {
  const WeightsPlace place;
  write_safetensors(
      {{"model.a", floats({1}, {1})},
       {"model.b", floats({1}, {2})},
       {"ema.a", floats({1}, {3})},
       {"optimizer.first.a", floats({1}, {4})}},
      place / "state.safetensors");
  const auto weights = read_weights(place / ".").weights;
  EXPECT_EQ(weights.size(), 2U);
  EXPECT_EQ(floats_in(weights.at("a")), std::vector<float>{3});
  EXPECT_EQ(floats_in(weights.at("b")), std::vector<float>{2});
}

TEST(Export, TheExtensionSaysWhatToWrite) {
  EXPECT_EQ(format_for("a/net.pt2", ""), ExportFormat::kPt2);
  EXPECT_EQ(format_for("net.PT", ""), ExportFormat::kTorchScript);
  EXPECT_EQ(format_for("net.safetensors", ""), ExportFormat::kSafetensors);
  EXPECT_EQ(format_for("net.bin", "pt2"), ExportFormat::kPt2);
  EXPECT_THAT(
      refusal([] { format_for("net.onnx", ""); }),
      AllOf(HasSubstr("write .onnx"), HasSubstr("safetensors")));
  EXPECT_THAT(
      refusal([] { format_for("net.pth", ""); }),
      AllOf(HasSubstr("pickles"), HasSubstr(".safetensors")));
  EXPECT_THAT(
      refusal([] { format_for("net", ""); }), HasSubstr("no extension"));
  EXPECT_THAT(
      refusal([] { format_for("net.pt", "torchscrpt"); }),
      HasSubstr("Did you mean torchscript?"));
}

TEST(Export, ATargetThatCannotBeIsRefusedFirst) {
  const WeightsPlace place;
  EXPECT_NO_THROW(check_target(place / "new.pt2", false));
  place.write("old.pt2", "x");
  EXPECT_THAT(
      refusal([&] { check_target(place / "old.pt2", false); }),
      AllOf(HasSubstr("exists already"), HasSubstr("--force")));
  EXPECT_NO_THROW(check_target(place / "old.pt2", true));
  EXPECT_THAT(
      refusal([&] { check_target(place / "no/net.pt2", false); }),
      HasSubstr("there is no folder"));
  EXPECT_THAT(
      refusal([&] { check_target(place / ".", true); }),
      HasSubstr("it is a folder"));
}

TEST(Export, AStateDictHasWhatPythonsHas) {
  graph::Program program = build({.name = "resnet18", .width = 0.125});
  for (auto& input : program.graph.inputs)
    if (input.target == "bn1.running_mean") input.persistent = false;
  const auto weights = state_dict(program);
  EXPECT_EQ(weights.count("bn1.running_var"), 1U);
  EXPECT_EQ(weights.count("bn1.num_batches_tracked"), 1U);
  EXPECT_EQ(weights.count("bn1.running_mean"), 0U);
  EXPECT_EQ(weights.size(), 121U);
}

TEST(Export, WeightsGoOutAndComeBack) {
  const WeightsPlace place;
  const auto program = build({.name = "resnet18", .width = 0.125});
  for (const char* name : {"w.safetensors", "w.pt2"}) {
    const auto report = export_program(
        program, place / name, {format_for(name, ""), false, {}});
    EXPECT_THAT(report, HasSubstr("122 tensors"));
    const auto back = read_weights(place / name).weights;
    for (const auto& [target, tensor] : back)
      EXPECT_EQ(bytes_in(tensor), bytes_in(program.weights.at(target)));
    EXPECT_EQ(back.count("fc.weight"), 1U);
  }
}

} // namespace
} // namespace temper::model
