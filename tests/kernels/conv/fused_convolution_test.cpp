// What convolutions do to pixels as they read and write them, against plain
// loops: a normalisation before, moments of results, the end of a gradient.
#include "temper/kernels/conv/convolution.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "temper/kernels/conv/gather.h"
#include "temper/kernels/winograd/winograd.h"
#include "tests/kernels/conv/plain_convolution.h"
#include "tests/kernels/norm/norm_reference.h"

namespace temper::kernels {
namespace {

using reference::kActivations;
using reference::Norm;
using reference::on_every_target;

// The way a shape is computed; no tile: by gathered rows.
struct FusedCase {
  ConvShape shape;
  std::optional<WinogradTile> tile;
};

void forward(
    const FusedCase& by,
    const Floats& x,
    const Floats& weight,
    const float* bias,
    Floats& y,
    const Moments* moments,
    const Affine& before) {
  if (by.tile)
    winograd_forward(
        by.shape,
        *by.tile,
        x.data(),
        weight.data(),
        bias,
        y.data(),
        moments,
        before);
  else
    gather_forward(
        by.shape, x.data(), weight.data(), bias, y.data(), moments, before);
}

void data_gradient(
    const FusedCase& by,
    const Floats& gradient,
    const Floats& weight,
    float* x_gradient,
    const GradientEnd& end) {
  if (by.tile)
    winograd_data_gradient(
        by.shape, *by.tile, gradient.data(), weight.data(), x_gradient, end);
  else
    gather_data_gradient(
        by.shape, gradient.data(), weight.data(), x_gradient, end);
}

void weight_gradient(
    const FusedCase& by,
    const Floats& x,
    const Floats& gradient,
    Floats& found,
    const Affine& before) {
  if (by.tile)
    winograd_weight_gradient(
        by.shape, *by.tile, x.data(), gradient.data(), found.data(), before);
  else
    gather_weight_gradient(
        by.shape, x.data(), gradient.data(), found.data(), before);
}

std::vector<FusedCase> fused_cases() {
  std::vector<FusedCase> all;
  for (const ConvShape& shape :
       {shape_of(2, 9, 14, 33, 20, 3, 1, 1),
        shape_of(1, 6, 6, 72, 40, 3, 1, 2),
        shape_of(3, 4, 4, 96, 130, 3, 1, 1), // few tiles
        shape_of(70, 4, 4, 8, 16, 3, 1, 1)}) { // many chunks
    all.push_back({shape, WinogradTile::kTwo});
    all.push_back({shape, WinogradTile::kFour});
    all.push_back({shape, {}});
  }
  for (const ConvShape& shape :
       {shape_of(2, 9, 7, 24, 17, 3, 2, 1),
        shape_of(2, 11, 12, 70, 40, 3, 2, 0),
        shape_of(1, 4, 4, 130, 20, 3, 2, 1)}) { // few tiles
    all.push_back({shape, WinogradTile::kFourStrided});
    all.push_back({shape, {}});
  }
  for (const ConvShape& shape :
       {shape_of(5, 2, 2, 20, 36, 3, 1, 1),
        shape_of(3, 1, 1, 33, 40, 3, 1, 1),
        shape_of(1, 16, 17, 3, 16, 7, 2, 3),
        shape_of(2, 5, 5, 7, 9, 2, 3, 0),
        shape_of(9, 12, 12, 40, 24, 3, 1, 1),
        shape_of(1, 5, 5, 260, 20, 3, 1, 1)}) // channels in pieces
    all.push_back({shape, {}});
  return all;
}

std::string text_of_case(const FusedCase& by) {
  return text_of(by.shape) +
      (by.tile ? " tile " + std::to_string(static_cast<int>(*by.tile)) : "");
}

Floats activated(const Norm& norm, const Floats& x) {
  Floats after(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    after[i] = static_cast<float>(
        norm.value(static_cast<double>(x[i]), i % norm.scale.size()));
  return after;
}

TEST(FusedConvolution, ANormBeforeIsAppliedToPixelsAndNotToThePadding) {
  std::size_t turn = 0;
  for (const FusedCase& by : fused_cases()) {
    const Activation act = kActivations[turn++ % std::size(kActivations)];
    SCOPED_TRACE(
        text_of_case(by) + " act " + std::to_string(static_cast<int>(act)));
    const ConvShape& shape = by.shape;
    const Norm norm(shape.in_channels, 3, act);
    const Floats x = random_values(x_count(shape), 1);
    const Floats weight = random_values(weight_count(shape), 2);
    const Floats gradient = random_values(y_count(shape), 4);
    const PlainResults exact =
        plain_convolution(shape, activated(norm, x), weight, gradient);
    on_every_target([&] {
      Floats y(gradient.size());
      Floats of_weight(weight.size());
      forward(by, x, weight, nullptr, y, nullptr, norm.affine());
      weight_gradient(by, x, gradient, of_weight, norm.affine());
      EXPECT_LE(relative_error(y, exact.y), 3e-6);
      EXPECT_LE(relative_error(of_weight, exact.weight_gradient), 3e-6);
    });
  }
}

// Results whose mean is a thousand times their deviation.
TEST(FusedConvolution, MomentsKeepTheirDigitsFarFromZero) {
  for (const FusedCase& by : fused_cases()) {
    SCOPED_TRACE(text_of_case(by));
    const ConvShape& shape = by.shape;
    const auto channels = static_cast<std::size_t>(shape.out_channels);
    const Floats x = random_values(x_count(shape), 1);
    Floats weight = random_values(weight_count(shape), 2);
    const double terms = static_cast<double>(weight.size() / channels);
    for (float& each : weight)
      each /= static_cast<float>(std::sqrt(terms));
    const Floats bias(channels, 1000);
    on_every_target([&] {
      Floats y(static_cast<std::size_t>(y_count(shape)));
      Doubles memory(2 * channels);
      const Moments found = moments_in(memory.data(), shape.out_channels);
      forward(by, x, weight, bias.data(), y, &found, {});
      Doubles exact(2 * channels);
      const Moments moments = moments_in(exact.data(), shape.out_channels);
      channel_moments(
          shape.batch * shape.out_height() * shape.out_width(),
          shape.out_channels,
          y.data(),
          moments);
      for (std::size_t c = 0; c < channels; ++c) {
        EXPECT_NEAR(found.mean[c], moments.mean[c], 1e-4);
        EXPECT_NEAR(
            found.variance[c], moments.variance[c], 2e-5 * moments.variance[c]);
      }
    });
  }
}

struct Ended {
  Floats x_gradient;
  Doubles sums;
};

// What a gradient's end makes of it, number by number.
void expect_end(
    const Ended& found,
    const Doubles& gradient,
    const Floats& add,
    const Floats& x,
    const Norm& norm) {
  const std::size_t channels = norm.scale.size();
  Doubles expected(gradient.size());
  Doubles sums(2 * channels);
  Doubles sizes(2 * channels);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t c = i % channels;
    const auto at = static_cast<double>(x[i]);
    expected[i] =
        norm.through(gradient[i] + static_cast<double>(add[i]), at, c);
    const double away = at - static_cast<double>(norm.mean[c]);
    sums[c] += expected[i];
    sums[channels + c] += expected[i] * away;
    sizes[c] += expected[i] * expected[i];
    sizes[channels + c] += expected[i] * away * expected[i] * away;
  }
  EXPECT_LE(relative_error(found.x_gradient, expected), 6e-6);
  for (std::size_t c = 0; c < 2 * channels; ++c)
    EXPECT_NEAR(found.sums[c], sums[c], 1e-5 * std::sqrt(sizes[c]) + 1e-6);
}

TEST(FusedConvolution, AGradientEndsInTheNormBeforeAndItsSums) {
  std::size_t turn = 0;
  for (const FusedCase& by : fused_cases()) {
    // Where an activation's slope jumps, roundings of the input decide.
    const Activation act =
        turn++ % 2 == 0 ? Activation::kRelu : Activation::kSilu;
    SCOPED_TRACE(text_of_case(by));
    const ConvShape& shape = by.shape;
    const Norm norm(shape.in_channels, 5, act);
    const Floats x = random_values(x_count(shape), 1);
    const Floats weight = random_values(weight_count(shape), 2);
    const Floats add = random_values(x_count(shape), 3);
    const Floats gradient = random_values(y_count(shape), 4);
    const PlainResults exact = plain_convolution(shape, x, weight, gradient);
    on_every_target([&] {
      for (const bool in_place : {false, true}) {
        Ended found{add, Doubles(2 * norm.scale.size())};
        const GradientSums sums =
            gradient_sums_in(found.sums.data(), shape.in_channels);
        data_gradient(
            by,
            gradient,
            weight,
            found.x_gradient.data(),
            {in_place ? found.x_gradient.data() : add.data(),
             x.data(),
             norm.affine(),
             norm.mean.data(),
             &sums});
        expect_end(found, exact.x_gradient, add, x, norm);
      }
      // Without a norm before, something is added and that is all.
      Floats added(x.size());
      data_gradient(by, gradient, weight, added.data(), {add.data()});
      Doubles expected = exact.x_gradient;
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += static_cast<double>(add[i]);
      EXPECT_LE(relative_error(added, expected), 6e-6);
    });
  }
}

TEST(FusedConvolution, BitsDoNotDependOnThreads) {
  for (const FusedCase& by : fused_cases()) {
    SCOPED_TRACE(text_of_case(by));
    const ConvShape& shape = by.shape;
    const Norm norm(shape.in_channels, 5, Activation::kRelu6);
    const Floats x = random_values(x_count(shape), 1);
    const Floats weight = random_values(weight_count(shape), 2);
    const Floats gradient = random_values(y_count(shape), 4);
    const auto all = [&] {
      Floats y(gradient.size());
      Floats of_weight(weight.size());
      Floats of_x(x.size());
      Doubles counted(static_cast<std::size_t>(
          2 * (shape.out_channels + shape.in_channels)));
      const Moments moments = moments_in(counted.data(), shape.out_channels);
      const GradientSums sums = gradient_sums_in(
          counted.data() + 2 * shape.out_channels, shape.in_channels);
      forward(by, x, weight, nullptr, y, &moments, norm.affine());
      weight_gradient(by, x, gradient, of_weight, norm.affine());
      data_gradient(
          by,
          gradient,
          weight,
          of_x.data(),
          {nullptr, x.data(), norm.affine(), norm.mean.data(), &sums});
      return std::tuple(y, of_weight, of_x, counted);
    };
    const auto alone = all();
    for (const int threads : {2, 3, 7})
      run_with_threads(threads, [&] { EXPECT_EQ(all(), alone); });
  }
}

} // namespace
} // namespace temper::kernels
