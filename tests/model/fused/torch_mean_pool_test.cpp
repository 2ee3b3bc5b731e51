// The mean over each channel's pixels as a fused op, beside LibTorch's.
#include "temper/model/fused/layers.h"
#include "tests/model/fused/against_float64.h"

namespace temper::model {
namespace {

struct MeanPoolCase {
  std::int64_t images, channels, height, width;
};
constexpr MeanPoolCase kMeanPoolCases[] = {
    {4, 1280, 7, 7},
    {128, 40, 1, 1},
    {3, 19, 5, 9},
    {1, 1, 33, 31},
    {2, 8, 112, 112}};

at::Tensor pixels(const MeanPoolCase& c, bool channels_last) {
  at::manual_seed(3);
  const at::Tensor x =
      at::randn({c.images, c.channels, c.height, c.width}).add_(1);
  return (channels_last ? x.contiguous(at::MemoryFormat::ChannelsLast) : x)
      .requires_grad_(true);
}

TEST(FusedMeanPool, IsAsExactAsLibTorchs) {
  for (const MeanPoolCase& c : kMeanPoolCases)
    for (const bool channels_last : {true, false})
      for (const bool keeps_plane : {true, false})
        expect_as_exact(
            make_mean_pool(keeps_plane),
            [&](const OpTensors& in) {
              return at::mean(in[0], {2, 3}, keeps_plane);
            },
            {pixels(c, channels_last)});
}

TEST(FusedMeanPool, HasTheSameBitsWhateverTheThreads) {
  for (const MeanPoolCase& c : kMeanPoolCases)
    expect_same_bits_on_threads(make_mean_pool(true), {pixels(c, true)});
}

TEST(FusedMeanPool, LeavesOtherTensorsToLibTorch) {
  const OpPointer op = make_mean_pool(true);
  EXPECT_FALSE(op->takes({at::randn({2, 3, 4})}));
  EXPECT_FALSE(op->takes({at::randn({2, 3, 4, 4}, at::kDouble)}));
  EXPECT_FALSE(op->takes({at::randn({0, 3, 4, 4})}));
}

} // namespace
} // namespace temper::model
