// Data that a C++ program brings goes the way of data that has a name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/data/open/open.h"
#include "tests/session/spirals.h"
#include "tests/train/run/counting_run.h"

namespace temper::train {
namespace {

using testing::HasSubstr;

class OwnDataTest : public CountingRun {
 protected:
  OwnDataTest() {
    request_.config.data.source.clear();
    brings(64);
  }
  void brings(std::int64_t samples) {
    request_.factories.open_data = [samples](const config::Config&) {
      OwnData own;
      own.train = std::make_shared<tests::Spirals>(samples);
      return own;
    };
  }
  std::string refused() {
    try {
      run(request_);
    } catch (const Error& error) {
      return cat(error.what(), " ", error.hint());
    }
    return "";
  }
};

TEST_F(OwnDataTest, ItIsDividedFittedAndNamedInTheRunsConfig) {
  const RunResult result = run(request_);
  EXPECT_EQ(result.outcome.ending, Ending::kDone);
  EXPECT_EQ(result.overview.source, "own:spirals");
  EXPECT_EQ(result.overview.train_samples + result.overview.val_samples, 64);
  EXPECT_EQ(result.overview.val_samples, 6);
  EXPECT_EQ(
      config::load(directory().config(), {}).config.data.source, "own:spirals");
  EXPECT_THAT(
      tests::read_bytes(directory().schema()),
      testing::AllOf(HasSubstr("left"), HasSubstr("right")));
  EXPECT_THAT(tests::read_bytes(directory().data()), HasSubstr("spirals"));
}

TEST_F(OwnDataTest, APartOfItsOwnIsValidatedAndAnotherTestedOn) {
  request_.factories.open_data = [](const config::Config&) {
    OwnData own;
    own.train = std::make_shared<tests::Spirals>(64);
    own.val = std::make_shared<tests::Spirals>(10, "held out");
    own.test = std::make_shared<tests::Spirals>(12, "never seen");
    return own;
  };
  const RunResult result = run(request_);
  EXPECT_EQ(result.overview.train_samples, 64);
  EXPECT_EQ(result.overview.val_samples, 10);
  EXPECT_EQ(result.overview.test_samples, 12);
}

TEST_F(OwnDataTest, ARunGoesOnWithItAndRefusesOtherData) {
  breaks_at(5);
  EXPECT_TRUE(run(request_).outcome.start_again);
  breaks_at(-1);
  request_.resume = directory().path;
  brings(72);
  EXPECT_NE(refused(), "");
  brings(64);
  EXPECT_EQ(run(request_).outcome.ending, Ending::kDone);
}

TEST_F(OwnDataTest, WhoeverLacksTheProgramIsToldSo) {
  breaks_at(5);
  run(request_);
  request_.resume = directory().path;
  request_.factories.open_data = nullptr;
  EXPECT_THAT(
      refused(),
      testing::AllOf(
          HasSubstr("own:spirals"),
          HasSubstr("Use the program that trained on it.")));
}

TEST_F(OwnDataTest, TwoAnswersToWhatIsTrainedOnAreRefused) {
  request_.config.data.source = "cifar10";
  EXPECT_THAT(refused(), HasSubstr("Leave data.source empty."));
}

TEST_F(OwnDataTest, DataWithoutATrainingPartIsRefused) {
  request_.factories.open_data = [](const config::Config&) {
    return OwnData{};
  };
  EXPECT_THAT(refused(), HasSubstr("Return either OwnData::train or"));
}

TEST(OwnSource, WithoutAFingerprintOfItsOwnItsShapeAndSizeCount) {
  EXPECT_EQ(tests::Spirals(8).fingerprint(), tests::Spirals(8).fingerprint());
  EXPECT_NE(tests::Spirals(8).fingerprint(), tests::Spirals(9).fingerprint());
  EXPECT_NE(
      tests::Spirals(8).fingerprint(), tests::Spirals(8, "b").fingerprint());
}

} // namespace
} // namespace temper::train
