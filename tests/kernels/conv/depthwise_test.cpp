#include "temper/kernels/conv/depthwise.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/norm/norm_reference.h"

namespace temper::kernels {
namespace {

using namespace reference;

// Images, height, width, channels, kernel, stride.
const DepthwiseShape kShapes[] = {
    {1, 1, 1, 1, 3, 1},
    {3, 1, 1, 24, 3, 1},
    {2, 2, 2, 17, 3, 1},
    {2, 2, 2, 16, 3, 2},
    {2, 3, 5, 8, 3, 1},
    {2, 5, 3, 40, 3, 2},
    {1, 7, 7, 100, 3, 1},
    {2, 8, 8, 16, 3, 2},
    {1, 13, 21, 19, 3, 1},
    {20, 4, 4, 64, 3, 1},
    {1, 30, 30, 70, 3, 2},
    {2, 1, 1, 16, 5, 1},
    {2, 2, 3, 24, 5, 2},
    {1, 9, 7, 20, 5, 1},
    {2, 12, 11, 33, 5, 2},
    {1, 1, 12, 16, 3, 1},
    {1, 12, 1, 16, 5, 2},
    {3, 6, 6, 130, 5, 1}};

std::string name_of_shape(const DepthwiseShape& s) {
  return std::to_string(s.images) + "x" + std::to_string(s.height) + "x" +
      std::to_string(s.width) + "x" + std::to_string(s.channels) + " k" +
      std::to_string(s.kernel) + " s" + std::to_string(s.stride);
}

struct DepthwiseCheck {
  DepthwiseShape shape;
  bool normed;
  Floats x, weight, gradient, raw, add;
  Norm before, after;
  Floats y, x_gradient, weight_gradient;
  Doubles moments, sums;

  DepthwiseCheck(const DepthwiseShape& of, Activation act, bool norms)
      : shape(of),
        normed(norms),
        x(random_floats(pixels(), 1)),
        weight(random_floats(of.channels * of.kernel * of.kernel, 2)),
        gradient(random_floats(out_pixels(), 3)),
        raw(random_floats(out_pixels(), 4)),
        add(random_floats(pixels(), 5)),
        before(of.channels, 6, act),
        after(of.channels, 16, act),
        y(static_cast<std::size_t>(out_pixels())),
        x_gradient(x.size()),
        weight_gradient(weight.size()),
        moments(static_cast<std::size_t>(2 * of.channels)),
        sums(static_cast<std::size_t>(2 * of.channels)) {}

  std::int64_t pixels() const {
    return shape.images * shape.height * shape.width * shape.channels;
  }
  std::int64_t out_pixels() const {
    return shape.images * shape.out_height() * shape.out_width() *
        shape.channels;
  }

  void compute() {
    compute(x_gradient.data());
  }

  void compute(float* x_gradient_at) {
    const Moments into = moments_in(moments.data(), shape.channels);
    DepthwiseForward forward;
    forward.shape = shape;
    forward.x = x.data();
    if (normed) forward.before = before.affine();
    forward.weight = weight.data();
    forward.y = y.data();
    forward.moments = &into;
    depthwise_forward(forward);
    const GradientSums gradient_sums =
        gradient_sums_in(sums.data(), shape.channels);
    DepthwiseBackward backward;
    backward.shape = shape;
    backward.x = x.data();
    if (normed) {
      backward.before = before.affine();
      backward.before_mean = before.mean.data();
      backward.after = after.gradient(raw);
      backward.sums = &gradient_sums;
    } else {
      backward.x_gradient_add = add.data();
    }
    backward.weight = weight.data();
    backward.gradient = gradient.data();
    backward.weight_gradient = weight_gradient.data();
    backward.x_gradient = x_gradient_at;
    depthwise_backward(backward);
  }

  // Calls visit(output, input, weight) with the indices of every product.
  template <class Visit>
  void over_products(const Visit& visit) const {
    const std::int64_t k = shape.kernel;
    for (std::int64_t n = 0; n < shape.images; ++n)
      for (std::int64_t oh = 0; oh < shape.out_height(); ++oh)
        for (std::int64_t ow = 0; ow < shape.out_width(); ++ow)
          for (std::int64_t i = 0; i < k * k; ++i) {
            const std::int64_t h = oh * shape.stride - (k - 1) / 2 + i / k;
            const std::int64_t w = ow * shape.stride - (k - 1) / 2 + i % k;
            if (h < 0 || w < 0 || h >= shape.height || w >= shape.width)
              continue;
            for (std::int64_t c = 0; c < shape.channels; ++c)
              visit(
                  static_cast<std::size_t>(
                      ((n * shape.out_height() + oh) * shape.out_width() + ow) *
                          shape.channels +
                      c),
                  static_cast<std::size_t>(
                      ((n * shape.height + h) * shape.width + w) *
                          shape.channels +
                      c),
                  static_cast<std::size_t>(c * k * k + i));
          }
  }

  double input(std::size_t i) const {
    const std::size_t c = i % static_cast<std::size_t>(shape.channels);
    const auto value = static_cast<double>(x[i]);
    return normed ? before.value(value, c) : value;
  }
  double dy(std::size_t i) const {
    const std::size_t c = i % static_cast<std::size_t>(shape.channels);
    const auto g = static_cast<double>(gradient[i]);
    return normed ? after.input_gradient(g, static_cast<double>(raw[i]), c) : g;
  }

  void check_forward() const {
    Doubles expected(y.size());
    Doubles sizes(y.size());
    over_products([&](std::size_t o, std::size_t i, std::size_t w) {
      const double term = input(i) * static_cast<double>(weight[w]);
      expected[o] += term;
      sizes[o] += std::abs(term);
    });
    expect_near(y, expected, sizes, shape.kernel * shape.kernel, "y");
    const auto channels = static_cast<std::size_t>(shape.channels);
    const double count = static_cast<double>(y.size() / channels);
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      double squares = 0;
      for (std::size_t i = c; i < y.size(); i += channels)
        sum += static_cast<double>(y[i]);
      const double mean = sum / count;
      for (std::size_t i = c; i < y.size(); i += channels)
        squares += std::pow(static_cast<double>(y[i]) - mean, 2);
      const double variance = squares / count;
      ASSERT_NEAR(moments[c], mean, 1e-6 * std::sqrt(variance) + 1e-9);
      ASSERT_NEAR(moments[channels + c], variance, 2e-6 * variance + 1e-9);
    }
  }

  void check_backward() const {
    Doubles dx(x.size());
    Doubles dx_sizes(x.size());
    Doubles dw(weight.size());
    Doubles dw_sizes(weight.size());
    over_products([&](std::size_t o, std::size_t i, std::size_t w) {
      const double g = dy(o);
      const auto by = static_cast<double>(weight[w]);
      // A normalised operand has an error of its own, though it may be small.
      const double size = std::abs(g) + (normed ? 4 : 0);
      dx[i] += g * by;
      dx_sizes[i] += size * std::abs(by);
      dw[w] += g * input(i);
      dw_sizes[w] += size * (std::abs(input(i)) + (normed ? 1 : 0));
    });
    const auto channels = static_cast<std::size_t>(shape.channels);
    Doubles expected_sums(2 * channels);
    Doubles sum_sizes(2 * channels);
    for (std::size_t i = 0; i < dx.size(); ++i) {
      if (!normed) {
        dx[i] += static_cast<double>(add[i]);
        dx_sizes[i] += std::abs(dx[i]);
        continue;
      }
      const std::size_t c = i % channels;
      const auto at = static_cast<double>(x[i]);
      const double away = at - static_cast<double>(before.mean[c]);
      dx[i] = before.through(dx[i], at, c);
      expected_sums[c] += dx[i];
      expected_sums[channels + c] += dx[i] * away;
      sum_sizes[c] += dx_sizes[i];
      sum_sizes[channels + c] += dx_sizes[i] * std::abs(away);
    }
    expect_near(x_gradient, dx, dx_sizes, 25, "x gradient");
    expect_near(weight_gradient, dw, dw_sizes, 64, "weight gradient");
    if (!normed) return;
    for (std::size_t c = 0; c < sums.size(); ++c)
      ASSERT_NEAR(sums[c], expected_sums[c], 1e-6 * sum_sizes[c] + 1e-6) << c;
  }
};

TEST(Depthwise, BothPassesAreTheDefinition) {
  on_every_target([] {
    for (const DepthwiseShape& shape : kShapes)
      for (const bool normed : {false, true}) {
        SCOPED_TRACE(name_of_shape(shape) + (normed ? " normed" : ""));
        DepthwiseCheck work(shape, Activation::kRelu6, normed);
        work.compute();
        work.check_forward();
        work.check_backward();
      }
    for (const Activation act : kActivations) {
      DepthwiseCheck work(kShapes[5], act, true);
      work.compute();
      work.check_forward();
      work.check_backward();
    }
  });
}

// Where whole cache lines can be written, large ones go past the caches.
TEST(Depthwise, LargeGradientsDoNotDependOnWhereTheyLie) {
  for (const std::int64_t stride : {1, 2}) {
    SCOPED_TRACE(stride);
    const DepthwiseShape shape{2, 131, 168, 96, 3, stride};
    DepthwiseCheck work(shape, Activation::kRelu6, stride == 1);
    PlacedFloats whole(work.x.size(), 0);
    PlacedFloats shifted(work.x.size(), 1);
    on_every_target([&] {
      work.compute(whole.data());
      const Floats weight_gradient = work.weight_gradient;
      const Doubles sums = work.sums;
      work.compute(shifted.data());
      EXPECT_TRUE(whole.values() == shifted.values());
      EXPECT_EQ(work.weight_gradient, weight_gradient);
      EXPECT_EQ(work.sums, sums);
    });
  }
}

TEST(Depthwise, BitsDoNotDependOnTheNumberOfThreads) {
  for (const DepthwiseShape& shape :
       {DepthwiseShape{20, 16, 16, 40, 3, 1},
        DepthwiseShape{2, 20, 20, 200, 5, 2}}) {
    Floats x_gradient;
    Floats weight_gradient;
    Doubles moments;
    Doubles sums;
    with_threads([&](int threads) {
      DepthwiseCheck work(shape, Activation::kRelu6, true);
      work.compute();
      if (threads == 1) {
        x_gradient = work.x_gradient;
        weight_gradient = work.weight_gradient;
        moments = work.moments;
        sums = work.sums;
      }
      EXPECT_EQ(work.x_gradient, x_gradient) << threads;
      EXPECT_EQ(work.weight_gradient, weight_gradient) << threads;
      EXPECT_EQ(work.moments, moments) << threads;
      EXPECT_EQ(work.sums, sums) << threads;
    });
  }
}

} // namespace
} // namespace temper::kernels
