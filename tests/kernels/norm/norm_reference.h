// BatchNorm and activations in double, a number at a time, and what tests of
// training kernels share: random numbers, every vector unit, several threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "temper/kernels/norm/batch_norm.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels::reference {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline Floats random_floats(std::int64_t count, unsigned seed, float mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> any(mean, 1);
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = any(random);
  return values;
}

inline double activate(Activation act, double y) {
  switch (act) {
    case Activation::kRelu:
      return std::max(y, 0.0);
    case Activation::kRelu6:
      return std::min(std::max(y, 0.0), 6.0);
    case Activation::kHardswish:
      return y * std::min(std::max(y + 3, 0.0), 6.0) / 6;
    case Activation::kSilu:
      return y / (1 + std::exp(-y));
    default:
      return y;
  }
}

inline double slope_at(Activation act, double y) {
  switch (act) {
    case Activation::kRelu:
      return y > 0 ? 1 : 0;
    case Activation::kRelu6:
      return y > 0 && y < 6 ? 1 : 0;
    case Activation::kHardswish:
      return y < -3 ? 0 : y > 3 ? 1 : y / 3 + 0.5;
    case Activation::kSilu: {
      const double gate = 1 / (1 + std::exp(-y));
      return gate * (1 + y * (1 - gate));
    }
    default:
      return 1;
  }
}

constexpr Activation kActivations[] = {
    Activation::kNone,
    Activation::kRelu,
    Activation::kRelu6,
    Activation::kHardswish,
    Activation::kSilu};

// Coefficients of a normalisation, made up.
struct Norm {
  Floats scale, shift, mean, slope, offset;
  Activation act = Activation::kNone;

  Norm(std::int64_t channels, unsigned seed, Activation activation)
      : scale(random_floats(channels, seed, 1.5F)),
        shift(random_floats(channels, seed + 1, 0.5F)),
        mean(random_floats(channels, seed + 2)),
        slope(random_floats(channels, seed + 3)),
        offset(random_floats(channels, seed + 4)),
        act(activation) {}

  Affine affine() const {
    return {scale.data(), shift.data(), act};
  }
  NormGradient gradient(const Floats& x) const {
    return {
        x.data(),
        scale.data(),
        shift.data(),
        mean.data(),
        slope.data(),
        offset.data(),
        act};
  }
  double before_act(double x, std::size_t c) const {
    return static_cast<double>(scale[c]) * x + static_cast<double>(shift[c]);
  }
  double value(double x, std::size_t c) const {
    return activate(act, before_act(x, c));
  }
  double through(double g, double x, std::size_t c) const {
    return g * slope_at(act, before_act(x, c));
  }
  double input_gradient(double g, double x, std::size_t c) const {
    return static_cast<double>(scale[c]) * through(g, x, c) +
        static_cast<double>(slope[c]) * (x - static_cast<double>(mean[c])) +
        static_cast<double>(offset[c]);
  }
};

// Rounding errors of sums of about `terms` float products whose absolute values
// add up to `size`.
inline double tolerance(double size, std::int64_t terms) {
  return size * 6e-8 * (4 + 2 * std::sqrt(static_cast<double>(terms))) + 1e-7;
}

inline void expect_near(
    const Floats& found,
    const Doubles& expected,
    const Doubles& sizes,
    std::int64_t terms,
    const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(
        static_cast<double>(found[i]), expected[i], tolerance(sizes[i], terms))
        << what << " at " << i;
}

inline void on_every_target(const std::function<void()>& test) {
  for (const Target target : runnable_targets()) {
    SCOPED_TRACE(name_of(target));
    choose_target(target);
    test();
  }
  choose_fastest_target();
}

inline int& threads_to_use() {
  static int count = 1;
  return count;
}

// Runs the work with 1, 2, 3 and 7 threads.
inline void with_threads(const std::function<void(int)>& work) {
  set_thread_count([] { return threads_to_use(); });
  for (const int count : {1, 2, 3, 7}) {
    threads_to_use() = count;
    work(count);
  }
  set_thread_count(nullptr);
}

// Room for so many floats, `beyond` the beginning of a cache line.
class PlacedFloats {
 public:
  PlacedFloats(std::size_t count, std::size_t beyond)
      : memory_(count + 16 + beyond), count_(count) {
    while (reinterpret_cast<std::uintptr_t>(memory_.data() + begin_) % 64 != 0)
      ++begin_;
    begin_ += beyond;
  }
  float* data() {
    return memory_.data() + begin_;
  }
  Floats values() const {
    const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return {first, first + static_cast<std::ptrdiff_t>(count_)};
  }

 private:
  Floats memory_;
  std::size_t count_;
  std::size_t begin_ = 0;
};

} // namespace temper::kernels::reference
