#include "temper/data/transform/mix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "temper/base/error.h"
#include "temper/data/transform/place.h"

namespace temper::data {
namespace {

// The logarithm of a draw from Gamma(shape, 1), by Marsaglia and Tsang. The
// logarithm, since a small shape gives draws too small for a double.
double log_gamma_draw(double shape, RandomStream& random) {
  if (shape < 1) {
    const double boost = std::log(1.0 - random.uniform()) / shape;
    return log_gamma_draw(shape + 1, random) + boost;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = random.normal();
    const double t = 1.0 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1.0 - random.uniform();
    if (std::log(u) < 0.5 * x * x + d * (1.0 - v + std::log(v))) {
      return std::log(d) + std::log(v);
    }
  }
}

// Calls `merge(row, row before)` for each row, every one with its original
// neighbour: backwards, with the last one kept for the first.
template <class Merge>
void with_the_one_before(
    float* rows,
    int samples,
    std::size_t row,
    const Merge& merge) {
  if (samples == 0) return;
  const auto count = static_cast<std::size_t>(samples);
  const float* end = rows + (count - 1) * row;
  const std::vector<float> last(end, end + row);
  for (std::size_t i = count - 1; i > 0; --i) {
    merge(rows + i * row, rows + (i - 1) * row);
  }
  merge(rows, last.data());
}

void blend_rows(float* rows, int samples, std::size_t row, double lambda) {
  const auto own = static_cast<float>(lambda);
  const auto other = static_cast<float>(1.0 - lambda);
  with_the_one_before(rows, samples, row, [&](float* x, const float* before) {
    for (std::size_t i = 0; i < row; ++i) {
      x[i] = x[i] * own + before[i] * other;
    }
  });
}

std::size_t input_size(const MixBatch& batch) {
  return static_cast<std::size_t>(batch.height) *
      static_cast<std::size_t>(batch.width) *
      static_cast<std::size_t>(batch.channels);
}

} // namespace

void one_hot(
    const std::int64_t* labels,
    int samples,
    int classes,
    float smoothing,
    float* targets) {
  const float off = smoothing / static_cast<float>(classes);
  for (int i = 0; i < samples; ++i, targets += classes) {
    std::fill(targets, targets + classes, off);
    check(
        labels[i] >= 0 && labels[i] < classes, "a label is one of its classes");
    targets[labels[i]] += 1.0F - smoothing;
  }
}

RandomStream
batch_stream(std::uint64_t seed, std::uint32_t epoch, std::int64_t batch) {
  return {seed, epoch, static_cast<std::uint64_t>(batch), kBatchSubstream};
}

double draw_lambda(double alpha, RandomStream& random) {
  check(alpha > 0, "alpha is positive");
  const double a = log_gamma_draw(alpha, random);
  const double b = log_gamma_draw(alpha, random);
  return 1.0 / (1.0 + std::exp(b - a));
}

void mixup(const MixBatch& batch, double lambda) {
  blend_rows(batch.inputs, batch.samples, input_size(batch), lambda);
  blend_rows(
      batch.targets,
      batch.samples,
      static_cast<std::size_t>(batch.classes),
      lambda);
}

Box cutmix_box(int width, int height, double lambda, int x, int y) {
  const double radius = 0.5 * std::sqrt(1.0 - lambda);
  const auto half_width = static_cast<int>(radius * width);
  const auto half_height = static_cast<int>(radius * height);
  const int left = std::max(x - half_width, 0);
  const int top = std::max(y - half_height, 0);
  const int right = std::min(x + half_width, width);
  const int bottom = std::min(y + half_height, height);
  return {left, top, right - left, bottom - top};
}

void cutmix(const MixBatch& batch, const Box& box) {
  const auto channels = static_cast<std::size_t>(batch.channels);
  const auto width = static_cast<std::size_t>(batch.width);
  const auto height = static_cast<std::size_t>(batch.height);
  const auto left = static_cast<std::size_t>(box.left);
  const auto top = static_cast<std::size_t>(box.top);
  const auto box_width = static_cast<std::size_t>(box.width);
  const auto box_height = static_cast<std::size_t>(box.height);
  // Channels last is one plane of wide pixels.
  const std::size_t planes = batch.channels_last ? 1 : channels;
  const std::size_t pixel = batch.channels_last ? channels : 1;
  with_the_one_before(
      batch.inputs,
      batch.samples,
      input_size(batch),
      [&](float* x, const float* before) {
        for (std::size_t p = 0; p < planes; ++p) {
          for (std::size_t y = top; y < top + box_height; ++y) {
            const auto at = ((p * height + y) * width + left) * pixel;
            std::copy_n(before + at, box_width * pixel, x + at);
          }
        }
      });
  const double share =
      static_cast<double>(std::int64_t{box.width} * box.height) /
      static_cast<double>(std::int64_t{batch.width} * batch.height);
  blend_rows(
      batch.targets,
      batch.samples,
      static_cast<std::size_t>(batch.classes),
      1.0 - share);
}

void mix(
    const MixBatch& batch,
    const MixOptions& options,
    RandomStream random) {
  const bool second = random.coin();
  const bool both = options.mixup_alpha > 0 && options.cutmix_alpha > 0;
  if (options.cutmix_alpha > 0 && (!both || second)) {
    const double lambda = draw_lambda(options.cutmix_alpha, random);
    const auto x = random.below(static_cast<std::uint32_t>(batch.width));
    const auto y = random.below(static_cast<std::uint32_t>(batch.height));
    cutmix(
        batch,
        cutmix_box(
            batch.width,
            batch.height,
            lambda,
            static_cast<int>(x),
            static_cast<int>(y)));
  } else if (options.mixup_alpha > 0) {
    mixup(batch, draw_lambda(options.mixup_alpha, random));
  }
}

} // namespace temper::data
