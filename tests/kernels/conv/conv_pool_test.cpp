#include "temper/kernels/conv/conv_pool.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/conv/plain_convolution.h"

namespace temper::kernels {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct PoolData {
  ConvShape shape;
  bool relu;
  Floats x;
  Floats weight;
  Floats bias;
  Floats gradient; // of the pooled values
  Doubles pooled;
  Doubles weight_gradient;
  Doubles bias_gradient;
  Floats spread; // the gradient of the convolution's result

  PoolData(const ConvShape& of, bool with_relu)
      : shape(of),
        relu(with_relu),
        x(random_values(x_count(of), 5)),
        weight(random_values(weight_count(of), 6)),
        bias(random_values(of.out_channels, 7)),
        gradient(random_values(
            of.batch * (of.out_height() / 2) * (of.out_width() / 2) *
                of.out_channels,
            8)),
        pooled(gradient.size()),
        bias_gradient(bias.size()),
        spread(static_cast<std::size_t>(y_count(of))) {
    const Doubles y = plain_convolution(of, x, weight, spread).y;
    const std::int64_t rows = of.out_height() / 2;
    const std::int64_t columns = of.out_width() / 2;
    std::size_t at = 0;
    for (std::int64_t row = 0; row < of.batch * rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        for (std::int64_t c = 0; c < of.out_channels; ++c, ++at)
          pool(y, row / rows, row % rows, column, c, at);
    weight_gradient = plain_convolution(of, x, weight, spread).weight_gradient;
  }

 private:
  void pool(
      const Doubles& y,
      std::int64_t image,
      std::int64_t row,
      std::int64_t column,
      std::int64_t channel,
      std::size_t at) {
    double largest = -std::numeric_limits<double>::infinity();
    std::size_t place = 0;
    for (int q = 0; q < 4; ++q) {
      const std::int64_t h = image * shape.out_height() + 2 * row + q / 2;
      const std::int64_t w = 2 * column + q % 2;
      const auto from = static_cast<std::size_t>(
          (h * shape.out_width() + w) * shape.out_channels + channel);
      if (y[from] <= largest) continue;
      largest = y[from];
      place = from;
    }
    largest += double{bias[static_cast<std::size_t>(channel)]};
    pooled[at] = relu && largest < 0 ? 0 : largest;
    if (relu && largest <= 0) return;
    spread[place] = gradient[at];
    bias_gradient[static_cast<std::size_t>(channel)] += double{gradient[at]};
  }
};

struct PoolFound {
  Floats pooled;
  std::vector<std::uint8_t> index;
  Floats weight_gradient;
  Floats bias_gradient;
  Floats spread;

  explicit PoolFound(const PoolData& data)
      : pooled(data.gradient.size(), kNaN),
        index(data.gradient.size(), 9),
        weight_gradient(data.weight.size(), kNaN),
        bias_gradient(data.bias.size(), kNaN),
        spread(data.spread.size(), kNaN) {
    conv_pool_forward(
        data.shape,
        data.relu,
        data.x.data(),
        data.weight.data(),
        data.bias.data(),
        pooled.data(),
        index.data());
    conv_pool_weight_gradient(
        data.shape,
        data.x.data(),
        index.data(),
        data.gradient.data(),
        weight_gradient.data(),
        bias_gradient.data());
    conv_pool_spread(
        data.shape, index.data(), data.gradient.data(), spread.data());
  }

  bool operator==(const PoolFound&) const = default;
};

TEST(ConvPool, AgreesWithPlainLoops) {
  for (const ConvShape& shape :
       {shape_of(2, 8, 9, 3, 32, 3, 1, 0),
        shape_of(1, 7, 7, 1, 8, 3, 1, 1),
        shape_of(2, 12, 10, 4, 24, 3, 1, 1),
        shape_of(1, 5, 6, 16, 40, 3, 1, 0),
        shape_of(1, 6, 6, 9, 5, 3, 1, 1),
        shape_of(1, 5, 80, 3, 13, 3, 1, 1)})
    for (const bool relu : {true, false}) {
      SCOPED_TRACE(text_of(shape));
      ASSERT_TRUE(conv_pool_takes(shape));
      const PoolData data(shape, relu);
      for (const Target target : runnable_targets()) {
        SCOPED_TRACE(name_of(target));
        choose_target(target);
        const PoolFound found(data);
        EXPECT_LE(relative_error(found.pooled, data.pooled), 1e-6);
        EXPECT_LE(
            relative_error(found.weight_gradient, data.weight_gradient), 1e-6);
        EXPECT_LE(
            relative_error(found.bias_gradient, data.bias_gradient), 1e-6);
        EXPECT_EQ(found.spread, data.spread);
      }
      choose_fastest_target();
    }
}

TEST(ConvPool, BitsDoNotDependOnThreads) {
  const PoolData data(shape_of(2, 33, 34, 3, 16, 3, 1, 1), true);
  const PoolFound alone(data);
  for (const int threads : {2, 3, 7})
    run_with_threads(threads, [&] { EXPECT_EQ(PoolFound(data), alone); });
}

TEST(ConvPool, ANanIsTheLargestOfItsCell) {
  PoolData data(shape_of(1, 6, 6, 1, 8, 3, 1, 0), true);
  data.x[0] = kNaN; // under the first convolution only
  const PoolFound found(data);
  EXPECT_TRUE(std::isnan(found.pooled[0]));
  EXPECT_EQ(found.index[0], 0);
  EXPECT_FALSE(std::isnan(found.pooled[8]));
}

TEST(ConvPool, WorksWithoutIndexAndBias) {
  PoolData data(shape_of(1, 8, 8, 3, 16, 3, 1, 1), true);
  Floats pooled(data.gradient.size(), kNaN);
  conv_pool_forward(
      data.shape,
      true,
      data.x.data(),
      data.weight.data(),
      nullptr,
      pooled.data(),
      nullptr);
  data.bias.assign(data.bias.size(), 0.0F);
  EXPECT_EQ(pooled, PoolFound(data).pooled);
}

TEST(ConvPool, DeclinesOtherShapes) {
  EXPECT_FALSE(conv_pool_takes(shape_of(1, 8, 8, 3, 8, 3, 2, 1)));
  EXPECT_FALSE(conv_pool_takes(shape_of(1, 8, 8, 3, 8, 5, 1, 1)));
  EXPECT_FALSE(conv_pool_takes(shape_of(1, 8, 8, 17, 8, 3, 1, 1)));
  EXPECT_FALSE(conv_pool_takes(shape_of(1, 3, 3, 3, 8, 3, 1, 0)));
}

} // namespace
} // namespace temper::kernels
