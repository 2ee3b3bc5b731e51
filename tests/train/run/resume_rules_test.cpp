#include "temper/train/run/resume_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/config/fields.h"
#include "tests/complaint.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;

Progress after(std::int64_t update) {
  Progress progress;
  progress.update = update;
  progress.epoch = static_cast<std::uint32_t>(update / 10);
  return progress;
}

TEST(ResumeRules, WhatAltersResultsIsRefusedByName) {
  config::Config was;
  config::Config is = was;
  is.optimizer.lr = 0.5;
  is.train.batch = 7;
  is.loader.workers = 3;
  EXPECT_THAT(
      changed_keys(was, is),
      ElementsAre("loader.workers", "train.batch", "optimizer.lr"));
  EXPECT_THAT(
      complaint([&] { check_changes(was, is, "runs/a"); }),
      AllOf(
          HasSubstr("train.batch (was 64, now 7)"),
          HasSubstr("optimizer.lr"),
          HasSubstr("temper train --from runs/a"),
          HasSubstr("--set train.batch=7 --set optimizer.lr=0.5")));
}

TEST(ResumeRules, WhatDoesNotAlterResultsIsTaken) {
  config::Config was;
  config::Config is = was;
  is.run.tags = {"a"};
  is.loader.workers = 3;
  is.loader.depth = 9;
  is.checkpoint.every_seconds = 5;
  is.checkpoint.keep_best = 5;
  is.train.log_every = 3;
  is.device = "cpu";
  is.threads = 2;
  check_changes(was, is, "runs/a");
  EXPECT_EQ(effect_of("loader.workers"), Effect::none);
  EXPECT_EQ(effect_of("checkpoint.metric"), Effect::result);
  EXPECT_EQ(effect_of("device"), Effect::last_bits);
  EXPECT_EQ(effect_of("seed"), Effect::result);
  EXPECT_EQ(effect_of("kernels"), Effect::result);
}

// A key that nobody thought of is refused rather than taken.
TEST(ResumeRules, MostKeysAlterResults) {
  int refused = 0;
  for (const auto& field : config::fields())
    refused += effect_of(field.key) == Effect::result ? 1 : 0;
  EXPECT_GT(refused, 40);
}

TEST(ResumeRules, ALongerRunMustHaveHadTheSameRates) {
  config::Config was;
  was.train.epochs = 4;
  was.schedule.name = "constant";
  config::Config is = was;
  is.train.epochs = 8;
  check_length(was, is, 10, after(25), "runs/a");
  was.schedule.name = is.schedule.name = "cosine";
  EXPECT_THAT(
      complaint([&] { check_length(was, is, 10, after(25), "runs/a"); }),
      AllOf(
          HasSubstr("another learning rate since update"),
          HasSubstr("cosine spreads the rates over the whole run"),
          HasSubstr("temper train --from runs/a --epochs 8")));
  check_length(was, is, 10, after(0), "runs/a");
  is.train.epochs = 1;
  EXPECT_THAT(
      complaint([&] { check_length(was, is, 10, after(25), "runs/a"); }),
      HasSubstr("more than is asked for"));
}

} // namespace
} // namespace temper::train
