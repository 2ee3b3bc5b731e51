#include "temper/kernels/conv/pointwise.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/norm/norm_reference.h"

namespace temper::kernels {
namespace {

using namespace reference;

struct RowCase {
  std::int64_t images, height, width, channels, kernel, stride, outputs;

  RowSource source(const Floats& x) const {
    RowSource rows;
    rows.x = x.data();
    rows.images = images;
    rows.height = height;
    rows.width = width;
    rows.channels = channels;
    rows.kernel = kernel;
    rows.stride = stride;
    rows.padding = (kernel - 1) / 2;
    return rows;
  }
  std::int64_t pixels() const {
    return images * height * width * channels;
  }
  std::string name() const {
    return std::to_string(images) + "x" + std::to_string(height) + "x" +
        std::to_string(width) + "x" + std::to_string(channels) + " k" +
        std::to_string(kernel) + " s" + std::to_string(stride) + " -> " +
        std::to_string(outputs);
  }
};

// Plain rows, few and many, narrow and wide; strided rows; patches.
const RowCase kRowCases[] = {
    {1, 1, 1, 1, 1, 1, 1},
    {2, 3, 3, 5, 1, 1, 7},
    {3, 7, 5, 16, 1, 1, 24},
    {2, 9, 9, 24, 1, 1, 144},
    {4, 1, 1, 160, 1, 1, 97},
    {1, 2, 1, 320, 1, 1, 1280},
    {5, 40, 40, 24, 1, 1, 40},
    {4, 64, 64, 37, 1, 1, 33},
    {2, 7, 9, 32, 1, 2, 48},
    {9, 64, 64, 19, 1, 2, 100},
    {2, 9, 8, 3, 3, 2, 32},
    {3, 97, 97, 3, 3, 2, 32},
    {1, 6, 6, 1, 5, 1, 8},
};

// [rows, length] in double: what a row is, by its definition.
Doubles rows_of(const RowCase& one, const Floats& x, const Norm* before) {
  const RowSource source = one.source(x);
  Doubles rows;
  for (std::int64_t n = 0; n < one.images; ++n)
    for (std::int64_t oh = 0; oh < source.out_height(); ++oh)
      for (std::int64_t ow = 0; ow < source.out_width(); ++ow)
        for (std::int64_t i = 0; i < one.kernel * one.kernel; ++i)
          for (std::int64_t c = 0; c < one.channels; ++c) {
            const std::int64_t h =
                oh * one.stride - source.padding + i / one.kernel;
            const std::int64_t w =
                ow * one.stride - source.padding + i % one.kernel;
            if (h < 0 || w < 0 || h >= one.height || w >= one.width) {
              rows.push_back(0);
              continue;
            }
            const auto value = static_cast<double>(x[static_cast<std::size_t>(
                ((n * one.height + h) * one.width + w) * one.channels + c)]);
            rows.push_back(
                before == nullptr
                    ? value
                    : before->value(value, static_cast<std::size_t>(c)));
          }
  return rows;
}

// c[m, n] = sum over k of a(m, k) b(k, n), and the sum of absolute values. An
// operand that was normalised has an error of its own, though it may be small:
// `slack` is added to its size.
struct Product {
  Doubles values;
  Doubles sizes;
  template <class A, class B>
  Product(
      std::size_t m,
      std::size_t n,
      std::size_t k,
      const A& a,
      const B& b,
      double slack)
      : values(m * n), sizes(m * n) {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t l = 0; l < k; ++l) {
        const double left = a(i, l);
        for (std::size_t j = 0; j < n; ++j) {
          const double right = b(l, j);
          values[i * n + j] += left * right;
          sizes[i * n + j] +=
              (std::abs(left) + slack) * (std::abs(right) + slack);
        }
      }
  }
};

void check_forward(const RowCase& one, Activation act, bool with_before) {
  const Floats x = random_floats(one.pixels(), 1);
  const RowSource source = one.source(x);
  const auto rows = static_cast<std::size_t>(source.rows());
  const auto length = static_cast<std::size_t>(source.length());
  const auto outputs = static_cast<std::size_t>(one.outputs);
  const Floats weight = random_floats(source.length() * one.outputs, 2);
  const Norm before(one.channels, 3, act);
  Floats y(rows * outputs);
  Doubles memory(2 * outputs);
  const Moments moments = moments_in(memory.data(), one.outputs);
  PointwiseForward job;
  job.x = source;
  if (with_before) job.before = before.affine();
  job.outputs = one.outputs;
  job.weight = weight.data();
  job.y = y.data();
  job.moments = &moments;
  pointwise_forward(job);

  const Doubles a = rows_of(one, x, with_before ? &before : nullptr);
  const Product expected(
      rows,
      outputs,
      length,
      [&](std::size_t i, std::size_t k) { return a[i * length + k]; },
      [&](std::size_t k, std::size_t j) {
        return static_cast<double>(weight[j * length + k]);
      },
      with_before ? 1.0 : 0.0);
  expect_near(y, expected.values, expected.sizes, source.length(), "y");
  for (std::size_t j = 0; j < outputs; ++j) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i)
      sum += static_cast<double>(y[i * outputs + j]);
    const double mean = sum / static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i)
      squares += std::pow(static_cast<double>(y[i * outputs + j]) - mean, 2);
    const double variance = squares / static_cast<double>(rows);
    ASSERT_NEAR(moments.variance[j], variance, 2e-6 * variance + 1e-9) << j;
    ASSERT_NEAR(moments.mean[j], mean, 1e-6 * std::sqrt(variance) + 1e-9) << j;
  }
}

TEST(Pointwise, ForwardIsAProductAndItsMoments) {
  on_every_target([] {
    for (const RowCase& one : kRowCases) {
      SCOPED_TRACE(one.name());
      check_forward(one, Activation::kNone, false);
      if (one.kernel == 1 && one.stride == 1)
        check_forward(one, Activation::kRelu6, true);
    }
    for (const Activation act : kActivations)
      check_forward(kRowCases[2], act, true);
  });
}

struct BackwardCheck {
  const RowCase& one;
  Activation act;
  bool normed; // both normalisations
  bool added;
  Floats x, weight, gradient, raw, add;
  Norm before, after;
  Floats weight_gradient, x_gradient;
  Doubles sums;

  BackwardCheck(
      const RowCase& row_case,
      Activation activation,
      bool norms,
      bool adds)
      : one(row_case),
        act(activation),
        normed(norms),
        added(adds),
        x(random_floats(one.pixels(), 1)),
        weight(random_floats(source().length() * one.outputs, 2)),
        gradient(random_floats(source().rows() * one.outputs, 4)),
        raw(random_floats(source().rows() * one.outputs, 5)),
        add(random_floats(one.pixels(), 6)),
        before(one.channels, 7, act),
        after(one.outputs, 17, act),
        weight_gradient(weight.size()),
        x_gradient(x.size()),
        sums(static_cast<std::size_t>(2 * one.channels)) {}

  RowSource source() const {
    return one.source(x);
  }

  void compute() {
    compute(x_gradient.data());
  }

  void compute(float* x_gradient_at) {
    PointwiseBackward job;
    job.x = source();
    const GradientSums into = gradient_sums_in(sums.data(), one.channels);
    if (normed) {
      job.before = before.affine();
      job.before_mean = before.mean.data();
      job.after = after.gradient(raw);
      job.sums = &into;
    }
    job.outputs = one.outputs;
    job.weight = weight.data();
    job.gradient = gradient.data();
    job.weight_gradient = weight_gradient.data();
    job.x_gradient = x_gradient_at;
    if (added) job.x_gradient_add = add.data();
    pointwise_backward(job);
  }

  Doubles dy() const {
    Doubles values;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const std::size_t c = i % static_cast<std::size_t>(one.outputs);
      const auto g = static_cast<double>(gradient[i]);
      values.push_back(
          normed ? after.input_gradient(g, static_cast<double>(raw[i]), c) : g);
    }
    return values;
  }

  void check() const {
    const RowSource from = source();
    const auto rows = static_cast<std::size_t>(from.rows());
    const auto length = static_cast<std::size_t>(from.length());
    const auto outputs = static_cast<std::size_t>(one.outputs);
    const Doubles y = dy();
    const Doubles a = rows_of(one, x, normed ? &before : nullptr);
    const Product dw(
        outputs,
        length,
        rows,
        [&](std::size_t n, std::size_t r) { return y[r * outputs + n]; },
        [&](std::size_t r, std::size_t k) { return a[r * length + k]; },
        normed ? 3.0 : 0.0);
    expect_near(
        weight_gradient, dw.values, dw.sizes, from.rows(), "weight gradient");
    const Product dx(
        rows,
        length,
        outputs,
        [&](std::size_t r, std::size_t n) { return y[r * outputs + n]; },
        [&](std::size_t n, std::size_t k) {
          return static_cast<double>(weight[n * length + k]);
        },
        normed ? 2.0 : 0.0);
    check_x(dx);
  }

  // Rows added to the pixels they came from, then through the activation.
  void check_x(const Product& dx) const {
    Doubles expected(x.size());
    Doubles sizes(x.size());
    Floats places(x.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = static_cast<float>(i + 1);
    const Doubles from = rows_of(one, places, nullptr); // 0: padding
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == 0) continue;
      const auto at = static_cast<std::size_t>(from[i]) - 1;
      expected[at] += dx.values[i];
      sizes[at] += dx.sizes[i];
    }
    const auto channels = static_cast<std::size_t>(one.channels);
    Doubles expected_sums(2 * channels);
    Doubles sum_sizes(2 * channels);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (added) expected[i] += static_cast<double>(add[i]);
      sizes[i] += std::abs(expected[i]);
      if (!normed) continue;
      const std::size_t c = i % channels;
      const auto at = static_cast<double>(x[i]);
      expected[i] = before.through(expected[i], at, c);
      const double away = at - static_cast<double>(before.mean[c]);
      expected_sums[c] += expected[i];
      expected_sums[channels + c] += expected[i] * away;
      sum_sizes[c] += sizes[i];
      sum_sizes[channels + c] += sizes[i] * std::abs(away);
    }
    expect_near(
        x_gradient,
        expected,
        sizes,
        one.outputs * one.kernel * one.kernel,
        "x gradient");
    if (!normed) return;
    for (std::size_t c = 0; c < sums.size(); ++c)
      ASSERT_NEAR(sums[c], expected_sums[c], 1e-6 * sum_sizes[c] + 1e-6) << c;
  }
};

TEST(Pointwise, BackwardIsTheGradientOfRowsAndWeights) {
  on_every_target([] {
    for (const RowCase& one : kRowCases) {
      SCOPED_TRACE(one.name());
      const bool plain = one.kernel == 1 && one.stride == 1;
      BackwardCheck bare(one, Activation::kNone, false, plain);
      bare.compute();
      bare.check();
      if (!plain) continue;
      BackwardCheck normed(one, Activation::kRelu6, true, false);
      normed.compute();
      normed.check();
    }
    for (const Activation act : kActivations) {
      BackwardCheck normed(kRowCases[2], act, true, false);
      normed.compute();
      normed.check();
    }
  });
}

// Where the unit has it, a product is added with one rounding: 2^-24 of
// (1 + 2^-12)^2 would be lost by two. Half of a kernel's speed is in it.
TEST(Pointwise, ProductsAreAddedWithOneRounding) {
  on_every_target([] {
    if (target() == Target::kBaseline) return; // its multiply-add is two
    const float near = 1.0F + 0x1p-12F;
    Floats x;
    for (int row = 0; row < 16; ++row) {
      x.push_back(-1.0F);
      x.push_back(near);
    }
    const Floats weight{1.0F + 0x1p-11F, near};
    Floats y(16);
    PointwiseForward job;
    job.x = RowCase{16, 1, 1, 2, 1, 1, 1}.source(x);
    job.outputs = 1;
    job.weight = weight.data();
    job.y = y.data();
    pointwise_forward(job);
    for (const float each : y)
      EXPECT_EQ(each, 0x1p-24F);
  });
}

// Where whole cache lines can be written, large ones go past the caches.
TEST(Pointwise, LargeGradientsDoNotDependOnWhereTheyLie) {
  const RowCase one{2, 220, 200, 48, 1, 1, 5};
  for (const bool normed : {false, true}) {
    BackwardCheck work(one, Activation::kRelu6, normed, !normed);
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

TEST(Pointwise, BitsDoNotDependOnTheNumberOfThreads) {
  for (const RowCase& one :
       {kRowCases[5], kRowCases[6], kRowCases[9], kRowCases[11]}) {
    SCOPED_TRACE(one.name());
    const bool plain = one.kernel == 1 && one.stride == 1;
    Floats weight_gradient;
    Floats x_gradient;
    Doubles sums;
    with_threads([&](int threads) {
      BackwardCheck work(one, Activation::kRelu6, plain, false);
      work.compute();
      if (threads == 1) {
        weight_gradient = work.weight_gradient;
        x_gradient = work.x_gradient;
        sums = work.sums;
      }
      EXPECT_EQ(work.weight_gradient, weight_gradient) << threads;
      EXPECT_EQ(work.x_gradient, x_gradient) << threads;
      EXPECT_EQ(work.sums, sums) << threads;
    });
  }
}

} // namespace
} // namespace temper::kernels
