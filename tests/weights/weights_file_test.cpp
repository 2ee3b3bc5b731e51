#include "temper/weights/weights_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/weights/safetensors.h"
#include "tests/paths.h"
#include "weights_files.h"

namespace temper::weights {
namespace {

namespace fs = std::filesystem;
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

} // namespace
} // namespace temper::weights
