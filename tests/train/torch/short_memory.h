// Memory that runs out at the n-th allocation of a step, once or from there on,
// and what may be left of it: nothing. The same for every device: these say
// how their allocations are counted and made to fail. TEMPER_TORTURE tries
// every n.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "engine_samples.h"
#include "temper/train/optimizer/retry_update.h"
#include "tests/train/optimizer/pauses.h"

namespace temper::train {

struct DeviceMemory {
  // The n-th from now on fails, or all from there on; 0: none.
  std::function<void(std::int64_t nth, bool from_then_on)> fail;
  std::function<std::int64_t()> allocations; // so far
};

inline bool every_allocation() {
  return std::getenv("TEMPER_TORTURE") != nullptr;
}

// Of 1 ... all: the first, the last, and so many between.
inline std::set<std::int64_t> spread(std::int64_t all, std::int64_t count) {
  std::set<std::int64_t> some;
  count = std::clamp<std::int64_t>(count, 2, std::max<std::int64_t>(all, 2));
  for (std::int64_t i = 0; i < count; ++i)
    some.insert(1 + i * (all - 1) / (count - 1));
  return some;
}

class ShortMemory {
 public:
  // Takes two steps; the third is the one that is disturbed.
  ShortMemory(Engine& engine, const Samples& samples, DeviceMemory memory)
      : engine_(engine), samples_(samples), memory_(std::move(memory)) {
    step(0);
    step(1);
    engine_.take_training_sums();
    before_ = engine_.capture();
    step(2);
    after_ = engine_.capture();
    step(3);
    later_ = engine_.capture();
    sums_ = engine_.take_training_sums();
    engine_.restore(before_);
    const std::int64_t begin = memory_.allocations();
    step(2);
    allocations_ = memory_.allocations() - begin;
    EXPECT_FALSE(same_bits(before_.tensors, after_.tensors));
    EXPECT_FALSE(same_bits(after_.tensors, later_.tensors));
  }
  ~ShortMemory() {
    memory_.fail(0, false);
  }
  ShortMemory(const ShortMemory&) = delete;
  ShortMemory& operator=(const ShortMemory&) = delete;

  std::int64_t allocations() const { // of a step
    return allocations_;
  }
  int taken_back = 0; // steps
  int half_done = 0;

  // Taken back and done again, or, where it was in the update already, done.
  void fail_once(std::int64_t n) {
    SCOPED_TRACE(::testing::Message() << "once at allocation " << n);
    engine_.restore(before_);
    memory_.fail(n, false);
    const bool done = attempt();
    memory_.fail(0, false);
    if (!done) {
      expect_untouched();
      step(2);
    }
    expect_undisturbed();
  }

  void fail_from(std::int64_t n) {
    SCOPED_TRACE(::testing::Message() << "for good from allocation " << n);
    engine_.restore(before_);
    memory_.fail(n, true);
    const tests::NoPauses hurry;
    const int half_before = half_done;
    EXPECT_FALSE(attempt()) << "done without memory";
    const bool half = half_done > half_before;
    if (half) {
      EXPECT_THROW(step(2), Error);
    } else {
      EXPECT_FALSE(attempt()) << "done without memory, the second time";
    }
    memory_.fail(0, false);
    half ? expect_refused() : expect_untouched();
    step(2);
    expect_undisturbed();
  }

  // One more than a step has.
  void expect_no_more_allocations() {
    engine_.restore(before_);
    memory_.fail(allocations_ + 1, true);
    EXPECT_TRUE(attempt()) << "it has more allocations than were counted";
    memory_.fail(0, false);
  }

 private:
  bool step(std::int64_t number) {
    return engine_.step(samples_.batch, order(number, 4, 0.01));
  }
  bool attempt() {
    try {
      return step(2);
    } catch (const OutOfMemory& error) {
      ++taken_back;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("out of memory"));
    } catch (const HalfDone& error) {
      ++half_done;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("failed half way"));
    }
    return false;
  }

  void expect_untouched() {
    EXPECT_TRUE(same_bits(before_.tensors, engine_.capture().tensors));
    const MetricSums sums = engine_.take_training_sums();
    EXPECT_EQ(sums.samples, 0);
    EXPECT_EQ(sums.predictions, 0);
    EXPECT_EQ(sums.loss, 0);
  }
  // Neither the old state nor the new one: for nobody.
  void expect_refused() {
    EXPECT_THROW(engine_.capture(), Error);
    EXPECT_THROW(engine_.weights(), Error);
    EXPECT_THROW(engine_.evaluate(samples_.batch), Error);
    EXPECT_THROW(step(2), Error);
    engine_.restore(before_);
    expect_untouched();
  }
  void expect_undisturbed() {
    EXPECT_TRUE(same_bits(after_.tensors, engine_.capture().tensors));
    EXPECT_TRUE(step(3));
    EXPECT_TRUE(same_bits(later_.tensors, engine_.capture().tensors));
    const MetricSums sums = engine_.take_training_sums();
    EXPECT_EQ(sums.loss, sums_.loss);
    EXPECT_EQ(sums.samples, sums_.samples);
    EXPECT_EQ(sums.predictions, sums_.predictions);
    EXPECT_EQ(sums.confusion, sums_.confusion);
  }

  Engine& engine_;
  const Samples& samples_;
  DeviceMemory memory_;
  std::int64_t allocations_ = 0;
  EngineState before_;
  EngineState after_;
  EngineState later_;
  MetricSums sums_; // of both steps
};

} // namespace temper::train
