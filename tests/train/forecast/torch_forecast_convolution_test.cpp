// What convolutions are found to take, held against what they take.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temper/base/text.h"
#include "temper/memory/cpu_allocator.h"
#include "temper/train/engine/convolution_trial.h"

namespace temper::train {
namespace {

using graph::ConvolutionCase;

ConvolutionCase
three_by_three(std::int64_t samples, std::int64_t channels, std::int64_t size) {
  ConvolutionCase made;
  made.input = {samples, channels, size, size};
  made.weight = {channels, channels, 3, 3};
  made.stride = made.padding = made.dilation = {1, 1};
  made.output_padding = {0, 0};
  return made;
}

// Bytes beside arguments and results, in a backward pass of autograd's.
std::int64_t taken(const ConvolutionCase& asked) {
  const at::Tensor input = at::rand(asked.input).requires_grad_(true);
  const at::Tensor weight = at::rand(asked.weight).requires_grad_(true);
  const at::Tensor result =
      at::conv2d(input, weight, {}, asked.stride, asked.padding);
  const at::Tensor gradient = at::ones_like(result);
  memory::reset_cpu_peak();
  const auto before = memory::cpu_usage().live_bytes;
  result.backward(gradient);
  const auto peak = memory::cpu_usage().peak_bytes;
  return static_cast<std::int64_t>(
      peak - before - input.nbytes() - weight.nbytes());
}

class ConvolutionTrial : public ::testing::Test {
 protected:
  ConvolutionTrial() {
    memory::install_cpu_allocator();
    at::set_num_threads(1);
  }
  ~ConvolutionTrial() override {
    at::set_num_threads(threads_);
  }

 private:
  int threads_ = at::get_num_threads();
};

// Large and small images take other ways, and other processors yet others.
TEST_F(ConvolutionTrial, FindsWhatAutogradsBackwardPassTakes) {
  for (const auto& [samples, channels, size] :
       {std::tuple{8, 64, 8}, {8, 256, 1}, {3, 128, 2}, {2, 16, 32}}) {
    const auto asked = three_by_three(samples, channels, size);
    const auto found = convolution_bytes(asked);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, taken(asked))
        << samples << " " << channels << " " << size;
  }
}

// 16 times as much work as it is willing to do.
TEST_F(ConvolutionTrial, GoesOnFromAFewOfManySamples) {
  const auto asked = three_by_three(64, 64, 32);
  const auto found = convolution_bytes(asked);
  ASSERT_TRUE(found);
  const auto real = static_cast<double>(taken(asked));
  EXPECT_NEAR(static_cast<double>(*found), real, 0.02 * real);
}

TEST_F(ConvolutionTrial, LeavesTheThreadsAndNoMemory) {
  auto asked = three_by_three(4, 32, 4);
  asked.threads = 3;
  const auto before = memory::cpu_usage().live_bytes;
  EXPECT_TRUE(convolution_bytes(asked));
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_EQ(memory::cpu_usage().live_bytes, before);
}

TEST_F(ConvolutionTrial, HasNoValueForWhatCannotBeRun) {
  auto asked = three_by_three(4, 32, 4);
  asked.weight[1] = 7; // of 32 channels
  EXPECT_FALSE(convolution_bytes(asked));
}

} // namespace
} // namespace temper::train
