#include "temper/train/run/run_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "tests/train/run/counting_run.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunChecks : public CountingRun {
 protected:
  // Why the run does not begin. There is no trace of it.
  std::string refused() {
    std::string why = "it ran";
    try {
      run(request_);
    } catch (const Error& error) {
      why = std::string(error.what()) + " " + error.hint();
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "runs")) << why;
    return why;
  }
};

TEST_F(RunChecks, AWarmUpThatIsLongerThanTheRunLeavesNoDirectory) {
  request_.config.schedule.warmup = 3;
  EXPECT_THAT(
      refused(),
      HasSubstr("the warm-up (3 epochs, 24 updates) is longer than the run "
                "(16 updates)"));
  request_.config.schedule.warmup = 1;
  request_.config.train.epochs = 1;
  EXPECT_THAT(
      refused(),
      HasSubstr("the warm-up (1 epoch, 8 updates) is as long as the run"));
}

TEST_F(RunChecks, AScheduleThatMustKnowALengthRefusesAStream) {
  request_.config.data.source = "cmd:true";
  request_.config.data.image_size = 8;
  request_.config.model.classes = 2;
  EXPECT_THAT(refused(), HasSubstr("does not say how long an epoch is"));
}

TEST_F(RunChecks, WeightsOfOtherClassesAreFoundBeforeTheRun) {
  request_.config.train.class_weights = {1, 2, 3};
  EXPECT_THAT(
      refused(),
      AllOf(
          HasSubstr("train.class_weights has 3 numbers, and there are 2 "
                    "classes"),
          HasSubstr("one number for each class")));
  request_.config.train.class_weights = {1, 2};
  EXPECT_EQ(run(request_).outcome.updates, 16);
}

TEST_F(RunChecks, AMetricOfValidationNeedsValidationData) {
  request_.config.checkpoint.metric = "val_loss";
  request_.config.data.val_fraction = 0;
  EXPECT_THAT(refused(), HasSubstr("needs validation data"));
}

TEST_F(RunChecks, ATextWithMoreCharactersThanTheModelKnowsIsRefused) {
  model::ZooOptions small;
  small.name = "gpt_tiny";
  small.vocabulary = 65;
  small.context = 16;
  RunModel model;
  model.name = "net.pt2";
  model.program = model::build(small);
  RunData data;
  data.source = "text:chars:t.txt";
  data.info.input = data::Input::tokens;
  data.info.target = data::Target::tokens;
  data.info.vocabulary = 65;
  data.train_samples = 640;
  data.val_samples = 64;
  const config::Config config;
  EXPECT_NO_THROW(check_run(config, data, model));
  data.info.vocabulary = 97;
  try {
    check_run(config, data, model);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "[train] net.pt2 knows 65 different tokens, and text:chars:t.txt has "
        "97.");
  }
}

} // namespace
} // namespace temper::train
