#include "temper/train/loop/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/train/forecast/governor_options.h"
#include "tests/complaint.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::complaint;

// Fits so many samples at once, and so many in validation.
class SmallEngine final : public Engine {
 public:
  EngineFacts facts() const override {
    EngineFacts facts;
    facts.needs_whole_batch = couples;
    return facts;
  }
  bool step(const data::HostBatch& batch, const StepOrder& order) override {
    const int at_once = order.micro_batch > 0 ? order.micro_batch : batch.size;
    tried.push_back(at_once);
    if (failures > 0 || at_once > fits) {
      --failures;
      throw OutOfMemory("[train] out of memory: you tried 9 bytes.");
    }
    return true;
  }
  StepReport report() override {
    return {};
  }
  MetricSums take_training_sums() override {
    return {};
  }
  void evaluate(const data::HostBatch& batch) override {
    const int at_once = slice > 0 ? std::min(slice, batch.size) : batch.size;
    tried.push_back(at_once);
    if (at_once > fits) throw OutOfMemory("[train] out of memory.");
  }
  void set_evaluation_slice(int samples) override {
    slice = samples;
  }
  MetricSums take_evaluation_sums() override {
    return {};
  }
  EngineState capture() override {
    return {};
  }
  void restore(const EngineState&) override {}
  graph::Weights weights() override {
    return {};
  }

  int fits = 100;
  int failures = 0; // so many, whatever the size
  bool couples = false;
  int slice = 0;
  std::vector<int> tried;
};

StepOrder at_update(std::int64_t update) {
  StepOrder order;
  order.update = update;
  return order;
}

class AttemptTest : public ::testing::Test {
 protected:
  AttemptTest() {
    config_.train.batch = 16;
    batch_.size = 16;
  }
  void make() {
    governor_ = memory::Governor(governor_options(config_, engine_.facts()));
    attempt_.emplace(engine_, governor_, [this](const journal::Event& event) {
      events_.push_back(event);
    });
  }

  config::Config config_;
  SmallEngine engine_;
  memory::Governor governor_;
  std::optional<Attempt> attempt_;
  std::vector<journal::Event> events_;
  data::HostBatch batch_;
};

TEST_F(AttemptTest, AMomentWithoutMemoryChangesNothing) {
  engine_.failures = 1;
  make();
  EXPECT_TRUE(attempt_->step(batch_, {}));
  EXPECT_THAT(engine_.tried, ElementsAre(16, 16));
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0].kind, "retry");
  EXPECT_EQ(events_[0].count("from"), 16);
  EXPECT_EQ(events_[0].count("to"), 16);
}

TEST_F(AttemptTest, TheSameSamplesGoInAgainFewerAtOnce) {
  engine_.fits = 5;
  make();
  StepOrder order;
  order.update = 7;
  EXPECT_TRUE(attempt_->step(batch_, order));
  EXPECT_THAT(engine_.tried, ElementsAre(16, 16, 8, 8, 4));
  ASSERT_EQ(events_.size(), 4U);
  EXPECT_EQ(events_[3].count("from"), 8);
  EXPECT_EQ(events_[3].count("to"), 4);
  EXPECT_EQ(events_[3].count("update"), 7);
  EXPECT_THAT(*events_[3].text("why"), HasSubstr("out of memory"));
  attempt_->see({}, order);
  engine_.tried.clear();
  EXPECT_TRUE(attempt_->step(batch_, order));
  EXPECT_THAT(engine_.tried, ElementsAre(4)) << "it is remembered";
}

TEST_F(AttemptTest, WhatCannotBeMadeSmallerIsOneClearError) {
  engine_.fits = 0;
  make();
  const std::string told = complaint([&] { attempt_->step(batch_, {}); });
  EXPECT_THAT(
      told,
      AllOf(
          HasSubstr("[train] out of memory: you tried 9 bytes, and even 1 "
                    "sample at once does not fit."),
          HasSubstr("memory.recompute"),
          HasSubstr("train.batch")));
  EXPECT_EQ(engine_.tried.back(), 1);
}

TEST_F(AttemptTest, ALossThatCouplesSamplesIsNeverSplit) {
  engine_.couples = true;
  engine_.fits = 8;
  make();
  EXPECT_THAT(
      complaint([&] { attempt_->step(batch_, {}); }),
      HasSubstr("couples the samples"));
  EXPECT_THAT(
      complaint([&] { attempt_->evaluate(batch_, at_update(7)); }),
      HasSubstr("couples the samples"));
  for (const int at_once : engine_.tried)
    EXPECT_EQ(at_once, 16);
}

TEST_F(AttemptTest, WhatTheUserFixedStays) {
  config_.memory.micro_batch = 4;
  engine_.fits = 2;
  make();
  EXPECT_THAT(
      complaint([&] { attempt_->step(batch_, {}); }),
      HasSubstr("memory.micro_batch fixes 4 samples"));
  config_.memory.micro_batch.reset();
  config_.train.accumulate = 4;
  EXPECT_EQ(governor_options(config_, {}).batch, 64);
  EXPECT_EQ(governor_options(config_, {}).most, 16);
}

TEST_F(AttemptTest, ValidationGoesOnInHalvesAndStaysThere) {
  engine_.fits = 5;
  make();
  attempt_->evaluate(batch_, at_update(7));
  EXPECT_THAT(engine_.tried, ElementsAre(16, 16, 8, 4));
  EXPECT_EQ(events_.back().text("what"), "validation");
  EXPECT_EQ(events_.back().count("update"), 7);
  EXPECT_EQ(events_.back().count("to"), 4);
  engine_.tried.clear();
  attempt_->evaluate(batch_, at_update(7));
  EXPECT_THAT(engine_.tried, ElementsAre(4));
  engine_.fits = 0;
  EXPECT_THAT(
      complaint([&] { attempt_->evaluate(batch_, at_update(7)); }),
      HasSubstr("one sample alone does not fit"));
}

} // namespace
} // namespace temper::train
