#include "temper/kernels/conv/mean_pool_table.h"
#include "temper/kernels/norm/lanes.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Sums of so many numbers are added up to sums of sums and those to the whole,
// which keeps the error of large images small.
constexpr std::int64_t kSumOf = 16;

// The sum over [begin, end), in steps of `channels`.
template <class Lanes>
[[gnu::always_inline]] inline Vec sum_of_pixels(
    Lanes lanes,
    std::int64_t channels,
    const float* x,
    std::int64_t begin,
    std::int64_t end) {
  Vec sum = {};
  for (std::int64_t p = begin; p < end; ++p)
    sum += lanes.load(x + p * channels);
  return sum;
}

template <class Lanes>
[[gnu::always_inline]] inline void mean_of_vector(
    Lanes lanes,
    const MeanPoolShape& shape,
    const float* x,
    float* mean) {
  const std::int64_t end = shape.pixels;
  Vec all = {};
  for (std::int64_t block = 0; block < end; block += kSumOf * kSumOf) {
    Vec some = {};
    for (std::int64_t p = block; p < end && p < block + kSumOf * kSumOf;
         p += kSumOf)
      some += sum_of_pixels(
          lanes, shape.channels, x, p, p + kSumOf < end ? p + kSumOf : end);
    all += some;
  }
  lanes.store(mean, all / broadcast(static_cast<float>(shape.pixels)));
}

void forward(
    const MeanPoolShape& shape,
    std::int64_t begin,
    std::int64_t end,
    const float* x,
    float* means) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float* from = x + i * shape.pixels * shape.channels;
    float* to = means + i * shape.channels;
    std::int64_t c = 0;
    for (; c + kLanes <= shape.channels; c += kLanes)
      mean_of_vector(Whole{}, shape, from + c, to + c);
    if (c < shape.channels)
      mean_of_vector(
          Part{static_cast<int>(shape.channels - c)}, shape, from + c, to + c);
  }
}

template <class Lanes>
[[gnu::always_inline]] inline void spread_vector(
    Lanes lanes,
    const MeanPoolShape& shape,
    const float* gradient,
    float* x_gradient) {
  const Vec part =
      lanes.load(gradient) / broadcast(static_cast<float>(shape.pixels));
  for (std::int64_t p = 0; p < shape.pixels; ++p)
    lanes.store(x_gradient + p * shape.channels, part);
}

void backward(
    const MeanPoolShape& shape,
    std::int64_t begin,
    std::int64_t end,
    const float* gradient,
    float* x_gradient) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float* from = gradient + i * shape.channels;
    float* to = x_gradient + i * shape.pixels * shape.channels;
    std::int64_t c = 0;
    for (; c + kLanes <= shape.channels; c += kLanes)
      spread_vector(Whole{}, shape, from + c, to + c);
    if (c < shape.channels)
      spread_vector(
          Part{static_cast<int>(shape.channels - c)}, shape, from + c, to + c);
  }
}

} // namespace

extern const MeanPoolTable mean_pool_table;
const MeanPoolTable mean_pool_table = {forward, backward};

} // namespace temper::kernels::TEMPER_TARGET
