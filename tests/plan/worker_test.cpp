#include "temper/plan/worker.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/plan/fake_rig.h"

namespace temper::plan {
namespace {

constexpr double kLong = 30;

TEST(Worker, JobsRunOnOneThreadThatIsNotThisOne) {
  Worker worker;
  std::thread::id first;
  std::thread::id second;
  ASSERT_TRUE(worker.run([&] { first = std::this_thread::get_id(); }, kLong));
  ASSERT_TRUE(worker.run([&] { second = std::this_thread::get_id(); }, kLong));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST(Worker, WhatAJobHoldsIsLetGoOnThatThread) {
  struct Held {
    std::thread::id* gone_on;
    ~Held() {
      *gone_on = std::this_thread::get_id();
    }
  };
  Worker worker;
  std::thread::id worker_thread;
  std::thread::id gone_on;
  auto held = std::make_shared<Held>(Held{&gone_on});
  ASSERT_TRUE(worker.run(
      [&worker_thread, mine = std::move(held)] {
        worker_thread = std::this_thread::get_id();
      },
      kLong));
  EXPECT_EQ(gone_on, worker_thread);
}

TEST(Worker, AJobThatHangsIsLeftBehindAndTheNextOneRuns) {
  const auto clock = std::make_shared<fakes::FakeClock>();
  const auto gate = std::make_shared<fakes::Gate>();
  const auto ended = std::make_shared<std::promise<void>>();
  const double before_s = clock->now();
  {
    Worker worker(fakes::wait_or_hang(clock, gate));
    EXPECT_FALSE(worker.run(
        [gate, ended] {
          gate->wait();
          ended->set_value();
        },
        kLong));
    EXPECT_EQ(clock->now() - before_s, kLong);
    bool ran = false;
    EXPECT_TRUE(worker.run([&] { ran = true; }, kLong));
    EXPECT_TRUE(ran);
  } // does not wait for what hangs
  gate->open();
  ended->get_future().get();
}

TEST(Worker, ADeadlineInRealTimePasses) {
  const auto gate = std::make_shared<fakes::Gate>();
  Worker worker;
  EXPECT_FALSE(worker.run([gate] { gate->wait(); }, 0.001));
  gate->open();
}

} // namespace
} // namespace temper::plan
