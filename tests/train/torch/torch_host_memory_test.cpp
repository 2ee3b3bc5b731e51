// Ordinary memory that runs out while an update is made: lists and names, not
// tensors. This file takes the place of the program's operator new.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "engine_samples.h"

namespace temper::train {
namespace {

// From the optimiser's part of a step on, on this thread, the n-th fails.
struct Rigged {
  const Heartbeat* heartbeat = nullptr; // null: none does
  std::int64_t count = 0;
  std::int64_t nth = 0;
};
thread_local Rigged rigged;

bool fails_now() noexcept {
  return rigged.heartbeat != nullptr &&
      rigged.heartbeat->phase.load() == Phase::optimizer &&
      ++rigged.count == rigged.nth;
}

} // namespace
} // namespace temper::train

void* operator new(std::size_t bytes) {
  void* memory =
      temper::train::fails_now() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace temper::train {
namespace {

class HostMemory : public ::testing::TestWithParam<config::Precision> {
 protected:
  bool step(Engine& engine, std::int64_t nth) {
    Heartbeat heartbeat;
    StepOrder now = order(2, 4, 0.01);
    now.heartbeat = &heartbeat;
    rigged = {&heartbeat, 0, nth};
    try {
      const bool committed = engine.step(samples_.batch, now);
      rigged.heartbeat = nullptr;
      return committed;
    } catch (const OutOfMemory&) {
      rigged.heartbeat = nullptr;
      return false;
    } catch (...) {
      rigged.heartbeat = nullptr;
      throw;
    }
  }

  Samples samples_ = images(7, 3, 8);
};

TEST_P(HostMemory, AnUpdateHappensOnceOrNotAtAll) {
  config::Config config;
  config.optimizer.name = "adamw";
  config.train.clip = 0.5;
  config.train.ema = 0.9;
  Sample sample = pictures(config, "cnn");
  sample.precision = GetParam();
  const auto engine = sample.engine();
  for (int i = 0; i < 2; ++i)
    engine->step(samples_.batch, order(i, 4, 0.01));
  engine->take_training_sums();
  const EngineState before = engine->capture();
  ASSERT_TRUE(step(*engine, 0));
  const std::int64_t allocations = rigged.count;
  const EngineState after = engine->capture();
  ASSERT_GT(allocations, 10);
  int failed = 0;
  for (std::int64_t n = 1; n <= allocations; ++n) {
    engine->restore(before);
    if (!step(*engine, n)) {
      ++failed;
      ASSERT_TRUE(same_bits(before.tensors, engine->capture().tensors)) << n;
      ASSERT_TRUE(step(*engine, 0));
    }
    ASSERT_TRUE(same_bits(after.tensors, engine->capture().tensors)) << n;
  }
  EXPECT_GT(failed, 10);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    HostMemory,
    ::testing::Values(config::Precision::fp32, config::Precision::fp64),
    [](const auto& each) { return std::string(config::to_text(each.param)); });

} // namespace
} // namespace temper::train
