// Normal numbers by Box and Muller, with logarithm, sine and cosine written out
// here: those of C libraries differ in the last bit, and a last bit now and
// then survives the rounding to float. Additions, multiplications, divisions
// and square roots do not differ, as long as the compiler fuses none of them,
// which the build forbids.
#include "temper/graph/build/fill.h"

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/random/philox.h"
#include "temper/base/text.h"

namespace temper::graph {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr double kLog2 = 0.6931471805599453;
constexpr double kRootHalf = 0.7071067811865476;

// ln x = k ln 2 + 2 artanh((m - 1) / (m + 1)), m between sqrt(1/2) and sqrt(2).
double log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < kRootHalf) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double series = 0;
  for (int power = 21; power >= 1; power -= 2)
    series = series * square + 1.0 / power;
  return exponent * kLog2 + 2 * s * series;
}

// The Taylor series of cosine (first = 0) and sine (first = 1) in the square of
// the angle: enough terms for a quarter turn.
constexpr int kTerms = 10;
constexpr std::array<double, kTerms> series_from(int first) {
  std::array<double, kTerms> factors{};
  double factor = 1;
  for (int n = 0; n < kTerms; ++n) {
    factors[static_cast<std::size_t>(n)] = factor;
    factor /= -((2.0 * n + 1 + first) * (2.0 * n + 2 + first));
  }
  return factors;
}
constexpr std::array<double, kTerms> kCosine = series_from(0);
constexpr std::array<double, kTerms> kSine = series_from(1);

double series_sum(const std::array<double, kTerms>& factors, double square) {
  double total = 0;
  for (std::size_t n = kTerms; n-- > 0;)
    total = total * square + factors[n];
  return total;
}

// Two independent standard normal numbers from two draws of 32 bits: a radius
// and a direction, the direction's first two bits being its quarter.
std::array<double, 2> normal_pair(RandomStream& stream) {
  constexpr double kUnit = 1.0 / 4294967296.0;
  const double radius = std::sqrt(-2 * log_of((stream.bits() + 1.0) * kUnit));
  const std::uint32_t direction = stream.bits();
  const double angle = (direction & 0x3FFFFFFFU) * (kUnit * 2 * kPi);
  const double c = radius * series_sum(kCosine, angle * angle);
  const double s = radius * (angle * series_sum(kSine, angle * angle));
  switch (direction >> 30) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

// Calls put(index, value) for each element, in order.
template <class Put>
void draw_each(
    const Fill& fill,
    std::int64_t count,
    RandomStream stream,
    const Put& put) {
  if (fill.kind == Fill::Kind::kConstant) {
    for (std::int64_t i = 0; i < count; ++i)
      put(i, fill.value);
    return;
  }
  if (fill.kind == Fill::Kind::kUniform) {
    for (std::int64_t i = 0; i < count; ++i)
      put(i, stream.uniform(-fill.spread, fill.spread));
    return;
  }
  for (std::int64_t i = 0; i < count;) {
    for (const double standard : normal_pair(stream)) {
      const double value = fill.spread * standard;
      if (i == count) break;
      if (fill.bound > 0 && std::abs(value) > fill.bound) continue;
      put(i++, value);
    }
  }
}

template <class Number>
void write(
    const Fill& fill,
    const RandomStream& stream,
    std::int64_t count,
    std::byte* bytes) {
  auto* numbers = reinterpret_cast<Number*>(bytes);
  draw_each(fill, count, stream, [&](std::int64_t i, double value) {
    numbers[i] = static_cast<Number>(value);
  });
}

std::int64_t field_of(const std::vector<std::int64_t>& sizes) {
  check(sizes.size() >= 2, "a weight has an input and an output side");
  return std::accumulate(
      sizes.begin() + 2, sizes.end(), std::int64_t{1}, std::multiplies<>());
}

} // namespace

Fill constant(double value) {
  return {Fill::Kind::kConstant, value, 0, 0};
}
Fill uniform(double bound) {
  return {Fill::Kind::kUniform, 0, bound, 0};
}
Fill normal(double deviation) {
  return {Fill::Kind::kNormal, 0, deviation, 0};
}
Fill truncated_normal(double deviation, double bound) {
  check(bound >= deviation / 2, "most draws of a truncated normal are kept");
  return {Fill::Kind::kNormal, 0, deviation, bound};
}

std::int64_t fan_in(const std::vector<std::int64_t>& sizes) {
  return field_of(sizes) * sizes[1];
}
std::int64_t fan_out(const std::vector<std::int64_t>& sizes) {
  return field_of(sizes) * sizes[0];
}

Fill uniform_fan_in(const std::vector<std::int64_t>& weight_sizes) {
  return uniform(1 / std::sqrt(static_cast<double>(fan_in(weight_sizes))));
}
Fill zeros(const std::vector<std::int64_t>&) {
  return constant(0);
}

TensorData draw(
    const Fill& fill,
    DType dtype,
    const std::vector<std::int64_t>& sizes,
    std::uint64_t seed,
    std::string_view name) {
  const std::int64_t count = element_count(sizes);
  const RandomStream stream(seed, 0, hash64(name));
  NewTensor made = make_tensor(dtype, sizes);
  switch (dtype) {
    case DType::kFloat32:
      write<float>(fill, stream, count, made.bytes);
      break;
    case DType::kFloat64:
      write<double>(fill, stream, count, made.bytes);
      break;
    case DType::kInt64:
      check(fill.kind == Fill::Kind::kConstant, "counters start at a constant");
      write<std::int64_t>(fill, stream, count, made.bytes);
      break;
    default:
      throw Error(
          cat("[graph] cannot initialise ",
              name,
              ": ",
              name_of(dtype),
              " is no type that parameters start in."),
          "Start in float32 and convert.");
  }
  return made.data;
}

} // namespace temper::graph
