#include "temper/weights/load_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/base/error.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "tests/paths.h"
#include "weights_files.h"

namespace temper::weights {
namespace {

using graph::DType;
using graph::Program;
using graph::Weights;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Program resnet(std::int64_t classes, std::uint64_t seed) {
  return model::build(
      {.name = "resnet18",
       .stem = "cifar",
       .width = 0.125,
       .classes = classes,
       .image_size = 32,
       .seed = seed});
}

std::string load_refusal(
    const Program& program,
    const Weights& weights,
    const LoadOptions& options = {}) {
  try {
    load_weights(program, weights, "w.pth", options);
  } catch (const Error& error) {
    return cat(error.what(), "\n", error.hint());
  }
  ADD_FAILURE() << "they were loaded";
  return "";
}

Weights with_prefix(const Weights& weights, const std::string& prefix) {
  Weights renamed;
  for (const auto& [name, tensor] : weights)
    renamed[prefix + name] = tensor;
  return renamed;
}

TEST(LoadWeights, EveryTensorOfTheSameModelFits) {
  const Program from = resnet(10, 1);
  const Program to = resnet(10, 2);
  ASSERT_NE(
      bytes_in(from.weights.at("conv1.weight")),
      bytes_in(to.weights.at("conv1.weight")));
  const auto loaded = load_weights(to, from.weights, "w.pth");
  for (const auto& [name, tensor] : from.weights)
    EXPECT_EQ(bytes_in(loaded.program.weights.at(name)), bytes_in(tensor));
  EXPECT_EQ(loaded.report, cat(from.weights.size(), " tensors of w.pth"));
}

TEST(LoadWeights, PrefixesOfWrappersAreTakenOff) {
  const Program to = resnet(10, 2);
  for (const char* prefix :
       {"module.",
        "model.",
        "_orig_mod.",
        "state_dict.",
        "module._orig_mod."}) {
    const Weights from = with_prefix(resnet(10, 1).weights, prefix);
    const auto loaded = load_weights(to, from, "w");
    EXPECT_EQ(
        bytes_in(loaded.program.weights.at("fc.weight")),
        bytes_in(from.at(cat(prefix, "fc.weight"))));
    EXPECT_THAT(
        loaded.report, HasSubstr(cat("names without \"", prefix, "\"")));
  }
}

TEST(LoadWeights, AnUnknownPrefixIsNotGuessedAt) {
  EXPECT_THAT(
      load_refusal(
          resnet(10, 2), with_prefix(resnet(10, 1).weights, "encoder.")),
      AllOf(
          HasSubstr("0 tensors fit"),
          HasSubstr("102 missing"),
          HasSubstr("encoder.bn1.bias"),
          HasSubstr("more"),
          HasSubstr("Are these the weights of this model?")));
}

TEST(LoadWeights, AnotherClassifierNeedsANewHead) {
  const Program from = resnet(100, 1);
  const Program to = resnet(10, 2);
  EXPECT_THAT(
      load_refusal(to, from.weights),
      AllOf(
          HasSubstr("2 of another shape or type"),
          HasSubstr("fc.weight  [100, 64] float32  the model has [10, 64]"),
          HasSubstr("head = \"new\"")));
  const auto loaded = load_weights(to, from.weights, "w", {.new_head = true});
  EXPECT_EQ(
      bytes_in(loaded.program.weights.at("fc.weight")),
      bytes_in(to.weights.at("fc.weight")));
  EXPECT_EQ(
      bytes_in(loaded.program.weights.at("conv1.weight")),
      bytes_in(from.weights.at("conv1.weight")));
  EXPECT_THAT(loaded.report, HasSubstr("a new head (fc.weight, fc.bias)"));
}

TEST(LoadWeights, ANewHeadIsNewEvenWhereTheOldOneWouldFit) {
  const Program to = resnet(10, 2);
  const auto loaded =
      load_weights(to, resnet(10, 1).weights, "w", {.new_head = true});
  EXPECT_EQ(
      bytes_in(loaded.program.weights.at("fc.bias")),
      bytes_in(to.weights.at("fc.bias")));
}

TEST(LoadWeights, ANewHeadExcusesNothingElse) {
  Weights from = resnet(100, 1).weights;
  from.erase("bn1.weight");
  from["layer1.0.conv1.weight"] = floats({1}, {0});
  EXPECT_THAT(
      load_refusal(resnet(10, 2), from, {.new_head = true}),
      AllOf(
          HasSubstr("bn1.weight"),
          HasSubstr("layer1.0.conv1.weight"),
          HasSubstr("Check the model's name"),
          Not(HasSubstr("fc."))));
}

TEST(LoadWeights, ALargerModelsFileIsNotASmallerOnes) {
  Weights from = resnet(10, 1).weights;
  from["layer5.weight"] = floats({1}, {0});
  EXPECT_THAT(
      load_refusal(resnet(10, 2), from),
      AllOf(HasSubstr("1 left over"), HasSubstr("layer5.weight")));
  const auto loaded =
      load_weights(resnet(10, 2), from, "w", {.ignore_left_over = true});
  EXPECT_THAT(loaded.report, HasSubstr("1 tensor left out"));
  EXPECT_EQ(loaded.program.weights.count("layer5.weight"), 0U);
}

TEST(LoadWeights, CountersOfBatchesMayBeMissing) {
  Weights from = resnet(10, 1).weights;
  for (auto each = from.begin(); each != from.end();)
    each = contains(each->first, "num_batches_tracked") ? from.erase(each)
                                                        : std::next(each);
  ASSERT_LT(from.size(), resnet(10, 1).weights.size());
  EXPECT_NO_THROW(load_weights(resnet(10, 2), from, "w"));
  from.erase("bn1.running_mean");
  EXPECT_THAT(
      load_refusal(resnet(10, 2), from),
      AllOf(HasSubstr("1 missing"), HasSubstr("bn1.running_mean")));
}

TEST(LoadWeights, HalfPrecisionFitsSinglePrecision) {
  Weights from = resnet(10, 1).weights;
  auto half = graph::make_tensor(DType::kBfloat16, {10});
  half.bytes[1] = std::byte{0x40}; // 2
  from["fc.bias"] = half.data;
  const auto loaded = load_weights(resnet(10, 2), from, "w");
  EXPECT_THAT(loaded.report, HasSubstr("1 tensor made wider"));
  EXPECT_EQ(floats_in(loaded.program.weights.at("fc.bias")).front(), 2.0F);
  from["fc.bias"] = graph::make_tensor(DType::kFloat64, {10}).data;
  EXPECT_THAT(load_refusal(resnet(10, 2), from), HasSubstr("[10] float64"));
  from["fc.bias"] = graph::make_tensor(DType::kInt32, {10}).data;
  EXPECT_THAT(load_refusal(resnet(10, 2), from), HasSubstr("[10] int32"));
}

TEST(LoadWeights, EveryHalfHasItsValue) {
  // 1, -2, the largest, the smallest subnormal, -0, infinity, NaN, 1/3.
  const std::uint16_t bits[] = {
      0x3c00, 0xc000, 0x7bff, 0x0001, 0x8000, 0x7c00, 0x7e00, 0x3555};
  auto half = graph::make_tensor(DType::kFloat16, {8});
  std::memcpy(half.bytes, bits, sizeof bits);
  const auto wide = floats_in(widened(half.data, DType::kFloat32));
  EXPECT_EQ(wide[0], 1.0F);
  EXPECT_EQ(wide[1], -2.0F);
  EXPECT_EQ(wide[2], 65504.0F);
  EXPECT_EQ(wide[3], std::ldexp(1.0F, -24));
  EXPECT_TRUE(wide[4] == 0 && std::signbit(wide[4]));
  EXPECT_TRUE(std::isinf(wide[5]) && wide[5] > 0);
  EXPECT_TRUE(std::isnan(wide[6]));
  EXPECT_EQ(wide[7], 0.333251953125F);
  EXPECT_EQ(widened(half.data, DType::kFloat64).byte_count, 64U);
}

TEST(LoadWeights, TheHeadIsTheLastLayerWithAMatrix) {
  EXPECT_THAT(
      head_parameters(resnet(10, 0).graph),
      ElementsAre("fc.weight", "fc.bias"));
  EXPECT_THAT(
      head_parameters(
          model::build({.name = "mobilenet_v2", .width = 0.25}).graph),
      ElementsAre("classifier.1.weight", "classifier.1.bias"));
  EXPECT_THAT(
      head_parameters(
          model::build({.name = "vit_tiny", .image_size = 32}).graph),
      ElementsAre("head.weight", "head.bias"));
}

TEST(LoadWeights, ATiedTensorIsLoadedFromAnyOfItsNames) {
  const Program tied = graph::read_pt2(tests::fixtures() / "pt2" / "tied.pt2");
  for (const char* absent : {"embed.weight", "head.weight"}) {
    Weights file = tied.weights;
    file.erase(absent);
    const auto loaded = load_weights(tied, file, "w").program.weights;
    EXPECT_EQ(loaded.at("embed.weight").bytes, loaded.at("head.weight").bytes);
    EXPECT_EQ(bytes_in(loaded.at(absent)), bytes_in(tied.weights.at(absent)));
  }
  Weights neither = tied.weights;
  neither.erase("embed.weight");
  neither.erase("head.weight");
  EXPECT_THAT(load_refusal(tied, neither), HasSubstr("2 missing"));
}

} // namespace
} // namespace temper::weights
