#include "temper/train/run/run_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::train {
namespace {

std::string writer_with(int threads, bool any_threads, const char* version) {
  RunRequest request;
  request.version = version;
  RunOverview overview;
  overview.settings.device = {"cpu", ""};
  overview.settings.layout = {"channels_last", ""};
  overview.settings.precision = {"fp32", ""};
  overview.settings.kernels = {"fused", ""};
  overview.settings.threads = {std::to_string(threads), ""};
  overview.kernels.any_threads = any_threads;
  return writer_json(request, overview);
}

TEST(RunEvents, AnotherNumberOfThreadsIsAnotherWriterUnlessBitsStay) {
  EXPECT_TRUE(writes_the_same_bits(
      writer_with(2, false, "1"), writer_with(2, false, "1")));
  EXPECT_FALSE(writes_the_same_bits(
      writer_with(2, false, "1"), writer_with(1, false, "1")));
  EXPECT_TRUE(writes_the_same_bits(
      writer_with(2, true, "1"), writer_with(1, true, "1")));
  EXPECT_FALSE(writes_the_same_bits(
      writer_with(2, true, "1"), writer_with(1, false, "1")));
  EXPECT_FALSE(writes_the_same_bits(
      writer_with(2, true, "1"), writer_with(1, true, "2")));
  EXPECT_FALSE(writes_the_same_bits("", writer_with(1, true, "1")));
}

TEST(RunEvents, ThePlanSaysWhatIsFusedAndWhoseBitsDependOnThreads) {
  RunOverview overview;
  overview.settings.threads = {"1", ""};
  overview.kernels.fused = "3 of 4 BatchNorm fused";
  overview.kernels.by_threads = {"the loss mse"};
  EXPECT_THAT(
      plan_json(overview),
      testing::AllOf(
          testing::HasSubstr("3 of 4 BatchNorm fused"),
          testing::HasSubstr("depend on threads: the loss mse")));
}

} // namespace
} // namespace temper::train
