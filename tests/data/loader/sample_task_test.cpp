#include "temper/data/loader/sample_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <stdexcept>

#include "loader_samples.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kTaskBatch = 8;
constexpr std::uint64_t kTaskSeed = 5;

class TaskOfASample : public testing::Test {
 protected:
  TaskOfASample() {
    source_->before = [this](std::int64_t index) {
      seen_in_hand_ = scratch_.in_hand;
      if (broken_.count(index) > 0) throw BadSample("it is torn");
      if (index == lost_) throw std::runtime_error("the disk is gone");
    };
  }

  // Position `position` of epoch 2, under a policy.
  RingBatch& run(BadPolicy bad, std::int64_t position) {
    task_ = std::make_unique<SampleTask>(
        source_, std::make_shared<SampleWriter>(layout_, nullptr), bad);
    task_->begin(order_, kTaskSeed, 2);
    ring_.restart(0, source_->size());
    double waited_s = 0;
    RingBatch& batch = *ring_.enter(position, waited_s);
    task_->run(position, ring_, batch, scratch_);
    return batch;
  }
  static std::string failure_of(const RingBatch& batch) {
    try {
      if (batch.failure) std::rethrow_exception(batch.failure);
    } catch (const Error& error) {
      return cat(error.what(), " | ", error.hint());
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }
  // Whether the slot holds this sample, as its source gives it.
  void expect_holds(RingBatch& batch, int slot, std::int64_t index) {
    broken_.clear();
    Sample sample;
    source_->read(index, sample);
    EXPECT_EQ(batch.buffer->index(slot), index);
    EXPECT_EQ(
        std::memcmp(
            batch.buffer->input(slot),
            sample.image.pixels(),
            sample.image.bytes()),
        0);
    EXPECT_EQ(
        *static_cast<std::int64_t*>(batch.buffer->target(slot)), sample.label);
  }

  std::shared_ptr<MadeSource> source_ = std::make_shared<MadeSource>(40, 3);
  SampleLayout layout_ = layout_of(source_->info(), nullptr, Element::u8, true);
  Order order_{40, true, kTaskSeed, 2};
  Ring ring_{layout_, kTaskBatch, 2};
  Scratch scratch_;
  std::unique_ptr<SampleTask> task_;
  std::set<std::int64_t> broken_;
  std::int64_t lost_ = -1;
  std::int64_t seen_in_hand_ = -1;
};

TEST_F(TaskOfASample, FillsTheSlotOfItsPositionByTheOrder) {
  RingBatch& batch = run(BadPolicy::error, 11);
  EXPECT_EQ(batch.begin, 8);
  EXPECT_EQ(failure_of(batch), "");
  EXPECT_TRUE(batch.bad.empty());
  expect_holds(batch, 3, order_.index(11));
}

TEST_F(TaskOfASample, ShowsWhichSampleIsInHandWhileItIsRead) {
  run(BadPolicy::error, 4);
  EXPECT_EQ(seen_in_hand_, order_.index(4));
  EXPECT_EQ(scratch_.in_hand, -1);
  broken_ = {order_.index(4)};
  run(BadPolicy::error, 4);
  EXPECT_EQ(scratch_.in_hand, -1) << "also when it failed";
}

TEST_F(TaskOfASample, UnderErrorABadOneFailsTheBatchWithWhatToDo) {
  const std::int64_t index = order_.index(4);
  broken_ = {index};
  RingBatch& batch = run(BadPolicy::error, 4);
  EXPECT_EQ(batch.failed_position, 4);
  EXPECT_THAT(
      failure_of(batch),
      AllOf(
          HasSubstr(cat("[data] it is torn (sample ", index)),
          HasSubstr("Remove it, or run with data.bad = \"skip\".")));
  EXPECT_TRUE(batch.bad.empty());
}

TEST_F(TaskOfASample, UnderSkipABadOneIsNamedAndItsSlotLeft) {
  broken_ = {order_.index(4)};
  RingBatch& batch = run(BadPolicy::skip, 4);
  EXPECT_EQ(failure_of(batch), "");
  ASSERT_EQ(batch.bad.size(), 1U);
  EXPECT_EQ(batch.bad[0].slot, 4);
  EXPECT_THAT(batch.bad[0].reason, HasSubstr("it is torn"));
}

TEST_F(TaskOfASample, UnderReplaceTheFirstSubstituteThatIsGoodTakesItsPlace) {
  broken_ = {order_.index(4), order_.substitute(4, 0)};
  int attempt = 1;
  while (broken_.count(order_.substitute(4, attempt)) > 0)
    ++attempt;
  RingBatch& batch = run(BadPolicy::replace, 4);
  EXPECT_EQ(failure_of(batch), "");
  ASSERT_EQ(batch.bad.size(), 1U);
  EXPECT_THAT(batch.bad[0].reason, HasSubstr(cat("sample ", order_.index(4))));
  expect_holds(batch, 4, order_.substitute(4, attempt));
}

TEST_F(TaskOfASample, WhenEverySubstituteIsBadTheBatchFails) {
  for (std::int64_t index = 0; index < source_->size(); ++index)
    broken_.insert(index);
  RingBatch& batch = run(BadPolicy::replace, 4);
  EXPECT_THAT(
      failure_of(batch),
      HasSubstr(cat("So were ", SampleTask::kSubstitutes, " others")));
}

TEST_F(TaskOfASample, WhatIsNoBadSampleFailsTheBatchUnderEveryPolicy) {
  lost_ = order_.index(4);
  for (const BadPolicy policy :
       {BadPolicy::error, BadPolicy::skip, BadPolicy::replace}) {
    RingBatch& batch = run(policy, 4);
    EXPECT_EQ(failure_of(batch), "the disk is gone");
    EXPECT_TRUE(batch.bad.empty());
  }
}

} // namespace
} // namespace temper::data
