// Files of a temper from before its rooms had corners (tests/fixtures/earlier):
// a run stopped in its second epoch with its checkpoints, the last checkpoint
// of the same run left alone, a pack, kept features and a kept plan. Whoever
// updates goes on with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "temper/data/feature/feature_store.h"
#include "temper/data/open/open.h"
#include "temper/weights/safetensors.h"
#include "tests/checkpoint/digest.h"
#include "tests/cli/run_temper.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EarlierFiles : public testing::Test {
 protected:
  EarlierFiles() {
    fs::copy(
        tests::fixtures() / "earlier",
        folder_.path(),
        fs::copy_options::recursive);
  }

  // Where the files lie: the run's config names its table by a relative path.
  ProcessResult temper(const std::vector<std::string>& arguments) const {
    return tests::run_temper(
        {"env", "-C", folder_.text(), "TEMPER_CACHE_DIR=" + folder_.text()},
        arguments);
  }
  checkpoint::Snapshot newest(const std::string& run) const {
    const auto found =
        checkpoint::Store(folder_ / run / "checkpoints").load_latest();
    if (!found) throw std::runtime_error(run + " has no checkpoint");
    return *found;
  }

  tests::TempFolder folder_;
};

double largest_difference(
    const graph::Weights& some,
    const graph::Weights& others) {
  double largest = 0;
  for (const auto& [name, tensor] : some) {
    const auto& other = others.at(name);
    if (other.byte_count != tensor.byte_count || other.dtype != tensor.dtype)
      return INFINITY;
    if (tensor.dtype != graph::DType::kFloat32) continue;
    for (std::size_t at = 0; at < tensor.byte_count; at += sizeof(float)) {
      float a = 0;
      float b = 0;
      std::memcpy(&a, tensor.bytes.get() + at, sizeof a);
      std::memcpy(&b, other.bytes.get() + at, sizeof b);
      largest = std::max(largest, std::fabs(double{a} - double{b}));
    }
  }
  return largest;
}

TEST_F(EarlierFiles, AStoppedRunEndsAsItWouldHaveThen) {
  const auto resumed = temper({"train", "--resume", "stopped"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("at update 31"));
  EXPECT_THAT(
      resumed.err,
      AllOf(Not(HasSubstr("altered")), Not(HasSubstr("artifacts"))));

  const auto then = newest("whole");
  const auto now = newest("runs/stopped");
  ASSERT_EQ(now.update, then.update);
  ASSERT_EQ(now.tensors.size(), then.tensors.size());
  // Another processor or LibTorch rounds otherwise, four hundred steps long.
  if (now.writer == then.writer)
    EXPECT_EQ(tests::digest(now), tests::digest(then));
  else
    EXPECT_LT(largest_difference(now.tensors, then.tensors), 1e-3);
}

TEST_F(EarlierFiles, ACheckpointIsExportedToTheBit) {
  const auto exported =
      temper({"export", "runs/stopped", "--to", "net.safetensors"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const auto then = weights::read_safetensors(folder_ / "stopped.safetensors");
  const auto now = weights::read_safetensors(folder_ / "net.safetensors");
  ASSERT_EQ(now.size(), then.size());
  EXPECT_EQ(largest_difference(now, then), 0);
  const auto shown = temper({"runs", "show", "stopped"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("70.83 %"));
}

TEST_F(EarlierFiles, APackHoldsThePixelsThatPillowReadThen) {
  const data::Splits pack =
      data::open_source("pack:" + folder_.text("pics.tpk"), {});
  std::vector<int> sums;
  for (const auto& part : {pack.train, pack.val}) {
    data::Sample sample;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      part->read(i, sample);
      const std::uint8_t* pixels = sample.image.pixels();
      int sum = 0;
      for (std::size_t at = 0; at < sample.image.bytes(); ++at)
        sum += pixels[at];
      sums.push_back(sum);
    }
  }
  EXPECT_THAT(
      sums,
      testing::UnorderedElementsAre(
          13268,
          13428,
          13480,
          13544,
          13581,
          13651,
          13765,
          14205,
          15838,
          15880,
          16045,
          16045,
          16114,
          16216,
          16360,
          16387));
}

TEST_F(EarlierFiles, KeptFeaturesAreReadWhole) {
  const auto kept = data::list_features(folder_ / "features");
  ASSERT_EQ(kept.size(), 2U);
  for (const auto& file : kept) {
    ASSERT_TRUE(file.about) << file.path;
    std::string why;
    const auto features = data::FeatureFile::open(
        file.path, file.about->key, file.about->layout, why);
    ASSERT_TRUE(features) << why;
    for (std::int64_t i = 0; i < file.about->layout.samples; ++i)
      EXPECT_TRUE(features->has(i));
  }
}

TEST_F(EarlierFiles, AKeptPlanIsShown) {
  const auto plans = temper({"plan", "show"});
  EXPECT_EQ(plans.code, 0) << plans.err;
  EXPECT_THAT(plans.out, HasSubstr("c1069eeb"));
  EXPECT_THAT(plans.out, HasSubstr("cpu, contiguous, 1 thread, fp32"));
}

} // namespace
} // namespace temper
