#include "temper/libtorch/cuda_memory.h"

#include <gtest/gtest.h>

#include "temper/memory/usage.h"
#include "tests/cuda_standin/fake_cuda.h"

namespace temper::libtorch {
namespace {

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;

class CudaMemoryTest : public ::testing::Test {
 protected:
  CudaMemoryTest() {
    fake_cuda::system().cards = {
        {24 * kGigabyte, 1, 0, 0, 0}, {8 * kGigabyte, 1, 700, 900, 1'000}};
    fake_cuda::system().current = 0;
  }
};

TEST_F(CudaMemoryTest, ABudgetIsAFractionOfTheCardItIsFor) {
  memory::limit_tensors("cuda:1", 2 * kGigabyte);
  EXPECT_DOUBLE_EQ(fake_cuda::system().cards[1].fraction, 0.25);
  EXPECT_DOUBLE_EQ(fake_cuda::system().cards[0].fraction, 1);
  EXPECT_EQ(fake_cuda::system().current, 0) << "another card was left current";
}

TEST_F(CudaMemoryTest, ABudgetAboveTheCardIsAllOfIt) {
  EXPECT_TRUE(limit_cuda(0, 100 * kGigabyte));
  EXPECT_DOUBLE_EQ(fake_cuda::system().cards[0].fraction, 1);
}

TEST_F(CudaMemoryTest, ACardTellsWhatIsLiveAtMostAndReserved) {
  const memory::TensorUsage usage = memory::tensor_usage("cuda:1");
  EXPECT_EQ(usage.live_bytes, 700);
  EXPECT_EQ(usage.peak_bytes, 900);
  EXPECT_EQ(usage.driver_bytes, 1'000);
  EXPECT_EQ(usage.tensors, 3);
  memory::reset_tensor_peak("cuda:1");
  EXPECT_EQ(memory::tensor_usage("cuda:1").peak_bytes, 700);
}

TEST_F(CudaMemoryTest, WhatWaitsToBeUsedAgainIsGivenBack) {
  memory::release_cached("cuda:1");
  EXPECT_EQ(memory::tensor_usage("cuda:1").driver_bytes, 700);
  memory::release_cached("cuda:7"); // nothing to do
}

TEST_F(CudaMemoryTest, ACardThatIsNotThereHasNothingAndNoLimit) {
  EXPECT_FALSE(limit_cuda(2, kGigabyte));
  EXPECT_EQ(memory::tensor_usage("cuda:7").live_bytes, 0);
}

} // namespace
} // namespace temper::libtorch
