// The seam against the LibTorch that is really there.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "temper/base/text.h"
#include "temper/libtorch/device_trial.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/torch/compat.h"

namespace temper::libtorch {
namespace {

TEST(LibTorch, LoadedIsTheOneCompiledFor) {
  const Facts facts = libtorch::facts();
  EXPECT_TRUE(facts.present);
  ASSERT_TRUE(parse_version(facts.version)) << facts.version;
  EXPECT_EQ(
      parse_version(facts.version)->major,
      parse_version(header_version())->major);
  EXPECT_GE(*parse_version(facts.version), (Version{1, 13, 0}));
}

TEST(LibTorch, DefaultThreadsAreThoseBeforeTemperSetAny) {
  const int before = facts().default_threads;
  EXPECT_GE(before, 1);
  set_threads(before + 1, 1);
  EXPECT_EQ(facts().default_threads, before);
  set_threads(before, 1); // the second inter-op call must not throw
}

// A thread that begins by spinning takes a core from what is measured.
TEST(LibTorch, ThreadsForAMeasurementAreChangedWithoutStartingAny) {
  const std::filesystem::path tasks = "/proc/self/task";
  if (!std::filesystem::exists(tasks)) GTEST_SKIP() << "no /proc";
  const auto count = [&] {
    return std::distance(
        std::filesystem::directory_iterator(tasks),
        std::filesystem::directory_iterator());
  };
  const int threads = at::get_num_threads();
  const auto before = count();
  for (const int wanted : {threads + 3, 1, threads + 7, threads}) {
    set_threads_here(wanted);
    EXPECT_EQ(at::get_num_threads(), wanted);
    EXPECT_EQ(count(), before);
  }
}

TEST(LibTorch, CpuPassesItsTrial) {
  const DeviceTrial trial = try_device("cpu");
  EXPECT_TRUE(trial.works) << trial.why_not;
}

TEST(LibTorch, ADeviceThatDoesNotExistFailsInOneLine) {
  for (const char* name : {"xla", "nonsense", ""}) {
    const DeviceTrial trial = try_device(name);
    EXPECT_FALSE(trial.works) << name;
    EXPECT_FALSE(trial.why_not.empty()) << name;
    EXPECT_THAT(trial.why_not, testing::Not(testing::HasSubstr("\n")));
    EXPECT_LT(trial.why_not.size(), 300U);
  }
}

TEST(LibTorch, SgemmIsMeasured) {
  const double gflops = sgemm_gflops(64, 0.01);
  EXPECT_GT(gflops, 0.01);
  EXPECT_LT(gflops, 10000);
}

} // namespace
} // namespace temper::libtorch
