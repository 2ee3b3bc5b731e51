#include "temper/model/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/model/zoo/zoo.h"
#include "temper/weights/weights_file.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

std::string bytes_of(const graph::TensorData& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.get()), tensor.byte_count};
}

TEST(Export, TheExtensionSaysWhatToWrite) {
  EXPECT_EQ(format_for("a/net.pt2", ""), ExportFormat::kPt2);
  EXPECT_EQ(format_for("net.PT", ""), ExportFormat::kTorchScript);
  EXPECT_EQ(format_for("net.safetensors", ""), ExportFormat::kSafetensors);
  EXPECT_EQ(format_for("net.bin", "pt2"), ExportFormat::kPt2);
  EXPECT_THAT(
      complaint([] { format_for("net.onnx", ""); }),
      AllOf(HasSubstr("write .onnx"), HasSubstr("safetensors")));
  EXPECT_THAT(
      complaint([] { format_for("net.pth", ""); }),
      AllOf(HasSubstr("pickles"), HasSubstr(".safetensors")));
  EXPECT_THAT(
      complaint([] { format_for("net", ""); }), HasSubstr("no extension"));
  EXPECT_THAT(
      complaint([] { format_for("net.pt", "torchscrpt"); }),
      HasSubstr("Did you mean torchscript?"));
}

TEST(Export, ATargetThatCannotBeIsRefusedFirst) {
  const tests::TempFolder place;
  EXPECT_NO_THROW(check_target(place / "new.pt2", false));
  place.write("old.pt2", "x");
  EXPECT_THAT(
      complaint([&] { check_target(place / "old.pt2", false); }),
      AllOf(HasSubstr("exists already"), HasSubstr("--force")));
  EXPECT_NO_THROW(check_target(place / "old.pt2", true));
  EXPECT_THAT(
      complaint([&] { check_target(place / "no/net.pt2", false); }),
      HasSubstr("there is no folder"));
  EXPECT_THAT(
      complaint([&] { check_target(place / ".", true); }),
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
  const tests::TempFolder place;
  const auto program = build({.name = "resnet18", .width = 0.125});
  for (const char* name : {"w.safetensors", "w.pt2"}) {
    const auto report = export_program(
        program, place / name, {format_for(name, ""), false, {}});
    EXPECT_THAT(report, HasSubstr("122 tensors"));
    const auto back = weights::read_weights(place / name).weights;
    for (const auto& [target, tensor] : back)
      EXPECT_EQ(bytes_of(tensor), bytes_of(program.weights.at(target)));
    EXPECT_EQ(back.count("fc.weight"), 1U);
  }
}

} // namespace
} // namespace temper::model
