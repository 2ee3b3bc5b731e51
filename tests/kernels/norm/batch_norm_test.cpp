#include "temper/kernels/norm/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/norm/norm_reference.h"

namespace temper::kernels {
namespace {

using namespace reference;

struct RowsCase {
  std::int64_t rows;
  std::int64_t channels;
};
constexpr RowsCase kRowsCases[] =
    {{1, 1}, {2, 3}, {5, 16}, {67, 24}, {130, 37}, {1031, 96}, {3, 1280}};

std::size_t size_of(const RowsCase& one) {
  return static_cast<std::size_t>(one.rows * one.channels);
}

struct MomentsFound {
  Doubles memory;
  Moments moments;
  MomentsFound(const RowsCase& one, const Floats& x)
      : memory(static_cast<std::size_t>(2 * one.channels)),
        moments(moments_in(memory.data(), one.channels)) {
    channel_moments(one.rows, one.channels, x.data(), moments);
  }
};

TEST(BatchNormKernel, MomentsAreTheDefinitionsAlsoFarFromZero) {
  on_every_target([] {
    for (const RowsCase& one : kRowsCases)
      for (const float mean : {0.0F, 1000.0F}) {
        const Floats x = random_floats(one.rows * one.channels, 3, mean);
        const MomentsFound found(one, x);
        const auto channels = static_cast<std::size_t>(one.channels);
        for (std::size_t c = 0; c < channels; ++c) {
          double sum = 0;
          double squares = 0;
          for (std::size_t i = c; i < x.size(); i += channels)
            sum += static_cast<double>(x[i]);
          const double average = sum / static_cast<double>(one.rows);
          for (std::size_t i = c; i < x.size(); i += channels)
            squares += std::pow(static_cast<double>(x[i]) - average, 2);
          const double variance = squares / static_cast<double>(one.rows);
          EXPECT_NEAR(
              found.moments.mean[c], average, 3e-7 * (1 + 0.01 * average));
          EXPECT_NEAR(found.moments.variance[c], variance, 1e-6 * variance);
        }
      }
  });
}

TEST(BatchNormKernel, ApplyIsTheFormulaWithEveryActivationAndResidual) {
  on_every_target([] {
    for (const RowsCase& one : kRowsCases)
      for (const Activation act : kActivations)
        for (const Residual place :
             {Residual::kNone,
              Residual::kBeforeActivation,
              Residual::kAfterActivation}) {
          const Floats x = random_floats(one.rows * one.channels, 5);
          const Floats residual = random_floats(one.rows * one.channels, 6);
          const Norm norm(one.channels, 7, act);
          Floats y(size_of(one));
          norm_apply(
              {one.rows,
               one.channels,
               x.data(),
               norm.affine(),
               place,
               place == Residual::kNone ? nullptr : residual.data(),
               y.data()});
          Doubles expected;
          Doubles sizes;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t c = i % static_cast<std::size_t>(one.channels);
            const auto more = static_cast<double>(residual[i]);
            const double at = norm.before_act(static_cast<double>(x[i]), c);
            expected.push_back(
                place == Residual::kBeforeActivation ? activate(act, at + more)
                    : place == Residual::kAfterActivation
                    ? activate(act, at) + more
                    : activate(act, at));
            sizes.push_back(4 + at * at);
          }
          expect_near(y, expected, sizes, 1, "y");
        }
  });
}

TEST(BatchNormKernel, GradientSumsAndGradientsAreTheFormula) {
  on_every_target([] {
    for (const RowsCase& one : kRowsCases)
      for (const Activation act : kActivations)
        for (const bool with_residual : {false, true}) {
          const auto channels = static_cast<std::size_t>(one.channels);
          const Floats x = random_floats(one.rows * one.channels, 8);
          const Floats g = random_floats(one.rows * one.channels, 9);
          const Floats residual = random_floats(one.rows * one.channels, 10);
          const Norm norm(one.channels, 11, act);
          Floats through(size_of(one));
          Floats dx(size_of(one));
          Doubles memory(2 * channels);
          const GradientSums sums =
              gradient_sums_in(memory.data(), one.channels);
          norm_gradient_sums(
              {one.rows,
               one.channels,
               g.data(),
               x.data(),
               norm.affine(),
               norm.mean.data(),
               with_residual ? residual.data() : nullptr,
               through.data(),
               sums});
          norm_gradient_apply(
              one.rows, one.channels, g.data(), norm.gradient(x), dx.data());
          Doubles expected_sums(2 * channels);
          Doubles sizes(2 * channels);
          Doubles expected_dx;
          Doubles dx_sizes;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t c = i % channels;
            const auto at = static_cast<double>(x[i]);
            const auto gi = static_cast<double>(g[i]);
            const double y = norm.before_act(at, c) +
                (with_residual ? static_cast<double>(residual[i]) : 0);
            const double t = gi * slope_at(act, y);
            EXPECT_NEAR(static_cast<double>(through[i]), t, 3e-6);
            const double away = at - static_cast<double>(norm.mean[c]);
            expected_sums[c] += t;
            expected_sums[channels + c] += t * away;
            sizes[c] += std::abs(gi) * 2;
            sizes[channels + c] += std::abs(gi * away) * 2;
            expected_dx.push_back(norm.input_gradient(gi, at, c));
            dx_sizes.push_back(20 + 4 * std::abs(expected_dx.back()));
          }
          expect_near(dx, expected_dx, dx_sizes, 1, "dx");
          for (std::size_t c = 0; c < 2 * channels; ++c)
            EXPECT_NEAR(memory[c], expected_sums[c], 4e-7 * sizes[c] + 1e-6);
        }
  });
}

// A residual with a normalisation of its own: act(norm(x) + other(residual)).
TEST(BatchNormKernel, AResidualMayBeNormalisedAsItIsAdded) {
  on_every_target([] {
    for (const RowsCase& one : kRowsCases)
      for (const Activation act : {Activation::kRelu, Activation::kSilu}) {
        const auto channels = static_cast<std::size_t>(one.channels);
        const Floats x = random_floats(one.rows * one.channels, 5);
        const Floats g = random_floats(one.rows * one.channels, 6);
        const Floats residual = random_floats(one.rows * one.channels, 7);
        const Norm norm(one.channels, 8, act);
        const Norm other(one.channels, 20, Activation::kNone);
        NormApply apply{one.rows, one.channels, x.data(), norm.affine()};
        Floats y(size_of(one));
        apply.residual_place = Residual::kBeforeActivation;
        apply.residual = residual.data();
        apply.residual_norm = other.affine();
        apply.y = y.data();
        norm_apply(apply);
        Floats through(size_of(one));
        Doubles memory(4 * channels);
        NormSums job{one.rows, one.channels, g.data(), x.data(), norm.affine()};
        job.mean = norm.mean.data();
        job.residual = residual.data();
        job.through = through.data();
        job.sums = gradient_sums_in(memory.data(), one.channels);
        job.residual_norm = other.affine();
        job.residual_mean = other.mean.data();
        job.residual_sums =
            gradient_sums_in(memory.data() + 2 * channels, one.channels);
        norm_gradient_sums(job);
        Doubles expected;
        Doubles sizes;
        Doubles sums(4 * channels);
        Doubles sums_sizes(4 * channels);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const std::size_t c = i % channels;
          const auto at = static_cast<double>(x[i]);
          const auto more = static_cast<double>(residual[i]);
          const double sum = norm.before_act(at, c) + other.before_act(more, c);
          expected.push_back(activate(act, sum));
          sizes.push_back(8 + sum * sum);
          const auto gi = static_cast<double>(g[i]);
          const double t = gi * slope_at(act, sum);
          EXPECT_NEAR(static_cast<double>(through[i]), t, 1e-5);
          const double parts[] = {
              t,
              t * (at - static_cast<double>(norm.mean[c])),
              t,
              t * (more - static_cast<double>(other.mean[c]))};
          for (std::size_t part = 0; part < 4; ++part) {
            sums[part * channels + c] += parts[part];
            sums_sizes[part * channels + c] += 2 * std::abs(parts[part]);
          }
        }
        expect_near(y, expected, sizes, 1, "y");
        for (std::size_t i = 0; i < sums.size(); ++i)
          EXPECT_NEAR(memory[i], sums[i], 1e-6 * sums_sizes[i] + 1e-5);
      }
  });
}

TEST(BatchNormKernel, BitsDoNotDependOnTheNumberOfThreads) {
  const RowsCase one{5000, 40};
  const Floats x = random_floats(one.rows * one.channels, 12);
  Doubles first;
  with_threads([&](int threads) {
    const MomentsFound found(one, x);
    if (threads == 1) first = found.memory;
    EXPECT_EQ(found.memory, first) << threads;
  });
}

TEST(BatchNormKernel, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  on_every_target([&] {
    for (const Activation act : kActivations) {
      const Norm norm(16, 1, act);
      Floats x(32, 1.0F);
      x[20] = nan;
      Floats y(32);
      norm_apply(
          {2, 16, x.data(), norm.affine(), Residual::kNone, nullptr, y.data()});
      EXPECT_TRUE(std::isnan(y[20]));
      EXPECT_FALSE(std::isnan(y[4]));
      const MomentsFound found({2, 16}, x);
      EXPECT_TRUE(std::isnan(found.moments.mean[4]));
      EXPECT_TRUE(std::isnan(found.moments.variance[4]));
    }
  });
}

TEST(BatchNormKernel, RunningStatisticsMoveByMomentum) {
  Doubles memory{2.0, 3.0};
  float mean = 1;
  float variance = 1;
  update_running(4, 1, moments_in(memory.data(), 1), 0.1, &mean, &variance);
  EXPECT_FLOAT_EQ(mean, 1.1F);
  EXPECT_FLOAT_EQ(variance, 0.9F + 0.4F);
}

} // namespace
} // namespace temper::kernels
