#include "temper/kernels/conv/convolution.h"

#include <gtest/gtest.h>

#include <limits>

#include "temper/kernels/conv/gather.h"
#include "temper/kernels/winograd/winograd.h"
#include "tests/kernels/conv/plain_convolution.h"

namespace temper::kernels {
namespace {

constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();

struct Data {
  ConvShape shape;
  Floats x;
  Floats weight;
  Floats bias;
  Floats gradient;
  PlainResults exact; // y with its bias

  explicit Data(const ConvShape& of)
      : shape(of),
        x(random_values(x_count(of), 1)),
        weight(random_values(weight_count(of), 2)),
        bias(random_values(of.out_channels, 3)),
        gradient(random_values(y_count(of), 4)),
        exact(plain_convolution(of, x, weight, gradient)) {
    for (std::size_t i = 0; i < exact.y.size(); ++i)
      exact.y[i] += double{bias[i % bias.size()]};
  }
};

struct Found {
  Floats y;
  Floats x_gradient;
  Floats weight_gradient;
  Doubles mean; // of y
  Doubles variance;

  explicit Found(const Data& data)
      : y(data.gradient.size(), kUnset),
        x_gradient(data.x.size(), kUnset),
        weight_gradient(data.weight.size(), kUnset),
        mean(data.bias.size()),
        variance(data.bias.size()) {}

  Moments moments() {
    return {mean.data(), variance.data()};
  }

  bool operator==(const Found&) const = default;
};

Found by_gathering(const Data& data) {
  Found found(data);
  const Moments moments = found.moments();
  gather_forward(
      data.shape,
      data.x.data(),
      data.weight.data(),
      data.bias.data(),
      found.y.data(),
      &moments);
  gather_data_gradient(
      data.shape,
      data.gradient.data(),
      data.weight.data(),
      found.x_gradient.data());
  gather_weight_gradient(
      data.shape,
      data.x.data(),
      data.gradient.data(),
      found.weight_gradient.data());
  return found;
}

Found by_winograd(const Data& data, WinogradTile tile) {
  Found found(data);
  const Moments moments = found.moments();
  winograd_forward(
      data.shape,
      tile,
      data.x.data(),
      data.weight.data(),
      data.bias.data(),
      found.y.data(),
      &moments);
  winograd_data_gradient(
      data.shape,
      tile,
      data.gradient.data(),
      data.weight.data(),
      found.x_gradient.data());
  winograd_weight_gradient(
      data.shape,
      tile,
      data.x.data(),
      data.gradient.data(),
      found.weight_gradient.data());
  return found;
}

void expect_moments_of(const Found& found) {
  const std::size_t channels = found.mean.size();
  const double rows = static_cast<double>(found.y.size() / channels);
  Doubles mean(channels);
  Doubles variance(channels);
  for (std::size_t i = 0; i < found.y.size(); ++i)
    mean[i % channels] += double{found.y[i]} / rows;
  for (std::size_t i = 0; i < found.y.size(); ++i) {
    const double away = double{found.y[i]} - mean[i % channels];
    variance[i % channels] += away * away / rows;
  }
  for (std::size_t c = 0; c < channels; ++c) {
    const double deviation = std::sqrt(variance[c]);
    // A single value's mean is itself, rounded once more by the pivot.
    EXPECT_NEAR(
        found.mean[c], mean[c], 2e-6 * deviation + 2e-7 * std::abs(mean[c]));
    EXPECT_NEAR(found.variance[c], variance[c], 4e-6 * variance[c] + 1e-12);
  }
}

void expect_close(const Data& data, const Found& found, double tolerance) {
  EXPECT_LE(relative_error(found.y, data.exact.y), tolerance);
  EXPECT_LE(relative_error(found.x_gradient, data.exact.x_gradient), tolerance);
  EXPECT_LE(
      relative_error(found.weight_gradient, data.exact.weight_gradient),
      tolerance);
  expect_moments_of(found);
}

void on_every_unit(const std::function<void()>& test) {
  for (const Target target : runnable_targets()) {
    SCOPED_TRACE(name_of(target));
    choose_target(target);
    test();
  }
  choose_fastest_target();
}

std::vector<ConvShape> gathered_shapes() {
  std::vector<ConvShape> shapes = {
      shape_of(2, 4, 4, 16, 16, 3, 1, 1),
      shape_of(2, 7, 5, 3, 5, 3, 1, 1),
      shape_of(3, 1, 1, 33, 40, 3, 1, 1),
      shape_of(5, 2, 2, 20, 36, 3, 1, 1),
      shape_of(4, 2, 2, 32, 32, 3, 2, 1),
      shape_of(2, 3, 3, 40, 9, 3, 1, 1),
      shape_of(1, 16, 17, 3, 16, 7, 2, 3),
      shape_of(2, 8, 8, 16, 32, 1, 2, 0),
      shape_of(1, 9, 7, 12, 17, 5, 2, 2),
      shape_of(1, 8, 8, 4, 6, 11, 4, 2),
      shape_of(2, 5, 5, 7, 9, 2, 3, 0),
      shape_of(1, 1, 1, 1, 1, 1, 1, 0),
      shape_of(2, 1, 1, 1280, 3, 1, 1, 0),
      shape_of(1, 6, 6, 130, 2, 3, 1, 1)};
  ConvShape rectangle = shape_of(2, 6, 9, 5, 8, 3, 1, 1);
  rectangle.kernel_width = 4;
  rectangle.stride_height = 2;
  rectangle.pad_width = 0;
  shapes.push_back(rectangle);
  return shapes;
}

TEST(Convolution, GatheredRowsAgreeWithPlainLoops) {
  for (const ConvShape& shape : gathered_shapes()) {
    SCOPED_TRACE(text_of(shape));
    const Data data(shape);
    on_every_unit([&] { expect_close(data, by_gathering(data), 1e-6); });
  }
}

TEST(Convolution, WinogradAgreesWithPlainLoops) {
  for (const ConvShape& shape :
       {shape_of(1, 4, 4, 16, 16, 3, 1, 1),
        shape_of(2, 7, 5, 3, 5, 3, 1, 1),
        shape_of(2, 9, 14, 33, 20, 3, 1, 0),
        shape_of(1, 6, 6, 40, 72, 3, 1, 2),
        shape_of(1, 2, 1, 32, 32, 3, 1, 1),
        shape_of(1, 4, 4, 96, 40, 3, 1, 1),
        shape_of(65, 4, 4, 8, 16, 3, 1, 1)}) {
    SCOPED_TRACE(text_of(shape));
    ASSERT_TRUE(winograd_takes(shape));
    const Data data(shape);
    on_every_unit([&] {
      expect_close(data, by_winograd(data, WinogradTile::kTwo), 1e-6);
      expect_close(data, by_winograd(data, WinogradTile::kFour), 3e-6);
    });
  }
}

TEST(Convolution, StridedWinogradAgreesWithPlainLoops) {
  for (const ConvShape& shape :
       {shape_of(2, 8, 8, 16, 32, 3, 2, 1),
        shape_of(1, 9, 7, 24, 17, 3, 2, 1),
        shape_of(2, 11, 12, 8, 40, 3, 2, 0),
        shape_of(1, 2, 3, 5, 6, 3, 2, 1),
        shape_of(9, 16, 16, 16, 12, 3, 2, 1)}) {
    SCOPED_TRACE(text_of(shape));
    ASSERT_TRUE(winograd_takes(shape));
    const Data data(shape);
    on_every_unit([&] {
      expect_close(data, by_winograd(data, WinogradTile::kFourStrided), 3e-6);
    });
  }
}

// The sums of a weight gradient are cut in several ways, by tiles, channels and
// rounds of tiles.
TEST(Convolution, BitsDoNotDependOnThreads) {
  const std::vector<std::pair<ConvShape, WinogradTile>> cases = {
      {shape_of(6, 24, 24, 16, 16, 3, 1, 1), WinogradTile::kFour},
      {shape_of(9, 8, 8, 16, 24, 3, 1, 1), WinogradTile::kTwo},
      {shape_of(2, 4, 4, 128, 32, 3, 1, 1), WinogradTile::kFour},
      {shape_of(3, 32, 32, 16, 16, 3, 2, 1), WinogradTile::kFourStrided}};
  for (const auto& [shape, tile] : cases) {
    SCOPED_TRACE(text_of(shape));
    const Data data(shape);
    const Found transformed = by_winograd(data, tile);
    const Found gathered = by_gathering(data);
    for (const int threads : {2, 3, 7})
      run_with_threads(threads, [&, &tile = tile] {
        EXPECT_EQ(by_winograd(data, tile), transformed);
        EXPECT_EQ(by_gathering(data), gathered);
      });
  }
}

// More channels than any cache holds: outputs are summed block by block, tiles
// come in rounds.
TEST(Convolution, ManyChannelsAreSummedInRounds) {
  const ConvShape shape = shape_of(12, 16, 16, 256, 272, 3, 1, 1);
  const Floats x = random_values(x_count(shape), 1);
  const Floats gradient = random_values(y_count(shape), 2);
  Floats transformed(static_cast<std::size_t>(weight_count(shape)), kUnset);
  Floats gathered = transformed;
  winograd_weight_gradient(
      shape,
      WinogradTile::kFour,
      x.data(),
      gradient.data(),
      transformed.data());
  gather_weight_gradient(shape, x.data(), gradient.data(), gathered.data());
  EXPECT_LE(
      relative_error(transformed, Doubles(gathered.begin(), gathered.end())),
      4e-6);
  run_with_threads(3, [&] {
    Floats again(transformed.size(), kUnset);
    winograd_weight_gradient(
        shape, WinogradTile::kFour, x.data(), gradient.data(), again.data());
    EXPECT_EQ(again, transformed);
  });
}

TEST(Convolution, ATapInThePaddingCostsNothing) {
  EXPECT_EQ(gather_products(shape_of(1, 1, 1, 1, 1, 3, 1, 1)), 1);
  EXPECT_EQ(gather_products(shape_of(1, 2, 2, 1, 1, 3, 1, 1)), 16);
  EXPECT_EQ(gather_products(shape_of(1, 64, 64, 1, 1, 3, 1, 1)), 9 * 64 * 64);
}

TEST(Convolution, AnyShapeIsComputedByOneOfThem) {
  for (const ConvShape& shape :
       {shape_of(1, 12, 12, 32, 32, 3, 1, 1),
        shape_of(2, 2, 2, 32, 32, 3, 1, 1),
        shape_of(1, 16, 16, 16, 32, 3, 2, 1),
        shape_of(1, 10, 10, 3, 8, 5, 1, 2)}) {
    SCOPED_TRACE(text_of(shape));
    ASSERT_TRUE(convolution_takes(shape));
    const Data data(shape);
    Found found(data);
    const Moments moments = found.moments();
    convolution_forward(
        shape,
        data.x.data(),
        data.weight.data(),
        data.bias.data(),
        found.y.data(),
        &moments);
    convolution_data_gradient(
        shape,
        data.gradient.data(),
        data.weight.data(),
        found.x_gradient.data());
    convolution_weight_gradient(
        shape,
        data.x.data(),
        data.gradient.data(),
        found.weight_gradient.data());
    expect_close(data, found, 3e-6);
    Floats bias(data.bias.size(), kUnset);
    convolution_bias_gradient(shape, data.gradient.data(), bias.data());
    Doubles exact(bias.size());
    for (std::size_t i = 0; i < data.gradient.size(); ++i)
      exact[i % exact.size()] += double{data.gradient[i]};
    EXPECT_LE(relative_error(bias, exact), 1e-6);
  }
  EXPECT_FALSE(convolution_takes(shape_of(1, 40, 40, 1, 1, 17, 1, 0)));
  EXPECT_FALSE(winograd_takes(shape_of(1, 8, 8, 1, 1, 5, 1, 2)));
}

} // namespace
} // namespace temper::kernels
