// LibTorch's CPU memory in our books. The allocator stays installed for the
// whole program, as it does for a run.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "temper/libtorch/out_of_memory.h"
#include "temper/memory/cpu_allocator.h"
#include "temper/memory/usage.h"
#include "tests/memory/sizes.h"

namespace temper::memory {
namespace {

using testing::HasSubstr;

at::Tensor bytes(std::int64_t count) {
  return at::empty({count}, at::kByte);
}

class CpuAllocator : public ::testing::Test {
 protected:
  CpuAllocator() {
    install_cpu_allocator();
    trim_cpu_pool();
    before_ = cpu_usage();
  }
  ~CpuAllocator() override {
    limit_cpu(0);
    fail_cpu_allocation(0);
    recycle_cpu_blocks(true);
  }

  std::uint64_t live() const {
    return cpu_usage().live_bytes - before_.live_bytes;
  }
  std::int64_t recycled() const {
    return cpu_usage().recycled - before_.recycled;
  }

  CpuUsage before_;
};

// Before any other test installs it.
const at::Tensor& older_than_the_allocator() {
  static const at::Tensor made = at::ones({1000});
  return made;
}
const bool made_first = older_than_the_allocator().defined();

TEST_F(CpuAllocator, TellsWhoTracesItWhatIsTakenAndGivenBack) {
  at::Tensor earlier = bytes(kMiB);
  std::vector<CpuEvent> events;
  trace_cpu(&events);
  at::Tensor first = bytes(100);
  const at::Tensor second = bytes(200);
  earlier.reset();
  first.reset();
  trace_cpu(nullptr);
  const at::Tensor later = bytes(300);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].bytes, 100);
  EXPECT_EQ(events[1].bytes, 200);
  EXPECT_EQ(events[2].bytes, 0);
  EXPECT_EQ(events[2].taken_at, 0U);
}

TEST_F(CpuAllocator, LetsOlderTensorsBe) {
  ASSERT_TRUE(made_first);
  at::Tensor old = older_than_the_allocator().clone();
  old.resize_({100'000}).fill_(2);
  EXPECT_EQ(old.sum().item<float>(), 200'000);
  at::Tensor older = older_than_the_allocator();
  older.resize_({5000}); // by the allocator that made it
  EXPECT_EQ(older.slice(0, 0, 1000).sum().item<float>(), 1000);
}

TEST_F(CpuAllocator, KnowsLiveAndPeakToTheByte) {
  EXPECT_EQ(live(), 0U);
  {
    const at::Tensor a = bytes(1001);
    EXPECT_EQ(live(), 1001U);
    const at::Tensor view = a.slice(0, 5);
    EXPECT_EQ(live(), 1001U);
    reset_cpu_peak();
    bytes(5 * kMiB);
    EXPECT_EQ(live(), 1001U);
    EXPECT_EQ(cpu_usage().peak_bytes - before_.live_bytes, 1001U + 5U * kMiB);
    const at::Tensor none = bytes(0);
    EXPECT_EQ(cpu_usage().blocks, before_.blocks + 1);
  }
  EXPECT_EQ(live(), 0U);
  EXPECT_EQ(cpu_usage().blocks, before_.blocks);
}

TEST_F(CpuAllocator, AlignsAsLibtorchDoes) {
  for (std::int64_t size = 1; size < std::int64_t{20 * kMiB};
       size = size * 3 + 1) {
    const at::Tensor some = bytes(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(some.data_ptr()) % 64, 0U);
    some.fill_(1); // every byte is there
  }
}

TEST_F(CpuAllocator, UsesBlocksAgain) {
  const void* first = bytes(3 * kMiB).data_ptr();
  EXPECT_EQ(cpu_usage().pooled_bytes / kMiB, 3U);
  const at::Tensor same = bytes(3 * kMiB - 100);
  EXPECT_EQ(same.data_ptr(), first);
  EXPECT_EQ(recycled(), 1);
  const at::Tensor other = bytes(8 * kMiB);
  EXPECT_EQ(recycled(), 1);
}

TEST_F(CpuAllocator, WhatWaitsIsBoundedByWhatWasHeld) {
  std::uint64_t most = 0;
  for (int i = 1; i < 200; ++i) { // as images of varying sizes
    bytes(kMiB / 8 * i % (9 * kMiB) + 1);
    most = std::max(most, cpu_usage().held_bytes - before_.held_bytes);
  }
  EXPECT_LT(most, 16U * kMiB);
  EXPECT_GT(cpu_usage().pooled_bytes, 0U);
  trim_cpu_pool();
  EXPECT_EQ(cpu_usage().pooled_bytes, 0U);
  EXPECT_EQ(cpu_usage().held_bytes, before_.held_bytes);
}

TEST_F(CpuAllocator, RefusesWhatGoesBeyondTheBudget) {
  const at::Tensor half = bytes(5 * kMiB);
  limit_cpu(cpu_usage().live_bytes + 5 * kMiB);
  try {
    bytes(5 * kMiB + 1);
    ADD_FAILURE() << "it was given";
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_THAT(
        error.what(), HasSubstr("[memory] out of memory: 5.0 MiB more"));
    EXPECT_TRUE(libtorch::is_out_of_memory(error));
  }
  EXPECT_EQ(live(), 5U * kMiB);
  const at::Tensor rest = bytes(5 * kMiB);
  EXPECT_EQ(live(), 10U * kMiB);
  EXPECT_THROW(bytes(1), c10::OutOfMemoryError);
  limit_cpu(0);
  bytes(1);
}

TEST_F(CpuAllocator, BlocksThatWaitMakeRoomWithinTheBudget) {
  limit_cpu(cpu_usage().held_bytes + 10 * kMiB);
  for (int size = 1; size < 9; ++size) {
    bytes(size * kMiB);
    EXPECT_LE(cpu_usage().held_bytes, cpu_usage().limit_bytes);
  }
}

TEST_F(CpuAllocator, SaysSoWhenTheSystemHasNoMore) {
  EXPECT_THROW(bytes(std::int64_t{1} << 60), c10::OutOfMemoryError);
  EXPECT_EQ(live(), 0U);
}

at::Tensor step(const at::Tensor& x, const at::Tensor& w) {
  at::relu(x.mm(w)).sum().backward();
  const at::Tensor made = w.grad();
  at::Tensor(w).mutable_grad() = at::Tensor();
  return made;
}

TEST_F(CpuAllocator, AFailureAtAnyAllocationLeavesNothingBehind) {
  const at::Tensor x = at::ones({32, 64});
  const at::Tensor w = at::ones({64, 64}).requires_grad_();
  step(x, w);
  const std::uint64_t before = cpu_usage().live_bytes;
  int n = 1;
  for (; n < 100; ++n) {
    bool failed = false;
    fail_cpu_allocation(n);
    try {
      step(x, w);
    } catch (const c10::OutOfMemoryError&) {
      failed = true;
      at::Tensor(w).mutable_grad() = at::Tensor();
    }
    fail_cpu_allocation(0);
    ASSERT_EQ(cpu_usage().live_bytes, before) << n;
    if (!failed) break;
  }
  EXPECT_GT(n, 4);
  EXPECT_LT(n, 100);
}

TEST_F(CpuAllocator, FailsOnceOrFromThenOnAndNeverInACommit) {
  const auto given = [] {
    try {
      bytes(1);
      return true;
    } catch (const c10::OutOfMemoryError&) {
      return false;
    }
  };
  for (const bool forever : {false, true}) {
    fail_cpu_allocation(2, forever);
    EXPECT_TRUE(given());
    EXPECT_FALSE(given());
    EXPECT_EQ(given(), !forever);
  }
}

TEST_F(CpuAllocator, WhatWaitsIsReleasedAndItsSizeForgotten) {
  const at::Tensor kept = bytes(kMiB);
  bytes(64 * kMiB);
  EXPECT_GT(cpu_usage().pooled_bytes, 60U * kMiB);
  release_cached("cpu");
  EXPECT_EQ(cpu_usage().pooled_bytes, 0U);
  EXPECT_EQ(live(), 1U * kMiB);
  // Smaller steps now keep less.
  for (int i = 0; i < 40; ++i)
    bytes(kMiB / 8 * (i % 9 + 1) + i);
  EXPECT_LT(cpu_usage().pooled_bytes, 4U * kMiB);
}

TEST_F(CpuAllocator, KeepsItsBooksWithSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      std::vector<at::Tensor> kept(16);
      for (int k = 0; k < 3000; ++k) {
        at::Tensor& slot = kept[static_cast<std::size_t>(k * 7 + i) % 16];
        slot = bytes(1 + k * 37 % 5000);
        slot.fill_(i);
      }
      for (const at::Tensor& each : kept)
        EXPECT_EQ(each.max().item<int>(), i); // nobody else wrote there
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(live(), 0U);
}

TEST_F(CpuAllocator, ComputesTheSameBits) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({64, 32});
  const at::Tensor w = at::randn({32, 32}).requires_grad_();
  const at::Tensor pooled = step(x, w);
  recycle_cpu_blocks(false);
  EXPECT_TRUE(at::equal(pooled, step(x, w)));
}

} // namespace
} // namespace temper::memory
