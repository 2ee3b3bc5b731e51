// Depthwise convolutions as a fused op of their own.
#include "tests/model/fused/over_draws.h"

namespace temper::model {
namespace {

class FusedDepthwise : public OnTorchThreads {};

ConvSpec depthwise_spec(
    std::int64_t kernel,
    std::int64_t stride,
    std::int64_t channels) {
  ConvSpec spec;
  spec.kernel = {kernel, kernel};
  spec.stride = {stride, stride};
  spec.padding = {(kernel - 1) / 2, (kernel - 1) / 2};
  spec.groups = channels;
  return spec;
}

TEST_F(FusedDepthwise, IsAsExactAsLibTorchsWithAndWithoutBias) {
  for (const std::int64_t kernel : {3, 5})
    for (const std::int64_t stride : {1, 2})
      for (const bool bias : {false, true}) {
        const std::int64_t channels = 20;
        const ConvSpec spec = depthwise_spec(kernel, stride, channels);
        const auto draw = [&] {
          return OpTensors{
              wanting(at::randn({3, channels, 9, 7})),
              wanting(at::randn({channels, 1, kernel, kernel})),
              bias ? wanting(at::randn({channels})) : at::Tensor()};
        };
        compare(make_depthwise(spec), draw, [&](const OpTensors& in) {
          return at::conv2d(
              in[0], in[1], in[2], spec.stride, spec.padding, 1, channels);
        });
      }
}

TEST_F(FusedDepthwise, LeavesOtherKernelsToLibTorch) {
  const OpPointer op = make_depthwise(depthwise_spec(7, 1, 8));
  EXPECT_FALSE(
      op->takes({at::randn({2, 8, 9, 9}), at::randn({8, 1, 7, 7}), {}}));
}

} // namespace
} // namespace temper::model
