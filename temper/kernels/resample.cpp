#include "temper/kernels/resample.h"

#include <algorithm>
#include <cmath>

namespace temper::kernels {
namespace {

double triangle(double x) {
  x = std::fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

// Keys' cubic with a = -0.5.
double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::fabs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

std::int32_t fixed_point(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

int taps_of(int in, int out, Filter filter) {
  const double stretch = std::max(static_cast<double>(in) / out, 1.0);
  const double reach = filter == Filter::bicubic ? 2.0 : 1.0;
  return static_cast<int>(std::ceil(reach * stretch)) * 2 + 1;
}

std::uint32_t pair(std::int32_t first, std::int32_t second) {
  return (static_cast<std::uint32_t>(first) & 0xFFFFU) |
      (static_cast<std::uint32_t>(second) << 16);
}

void cut_into_pairs(ResampleWeights& result) {
  const auto taps = static_cast<std::size_t>(result.taps);
  const std::size_t pairs = (taps + 1) / 2;
  const auto outputs = static_cast<std::size_t>(result.out);
  result.pairs = static_cast<int>(pairs);
  result.high.resize(outputs * pairs);
  result.low.resize(outputs * pairs);
  for (std::size_t i = 0; i < outputs; ++i) {
    for (std::size_t p = 0; p < pairs; ++p) {
      const std::int32_t* w = result.weights.data() + i * taps + 2 * p;
      const std::int32_t first = w[0];
      const std::int32_t second = 2 * p + 1 < taps ? w[1] : 0;
      result.high[i * pairs + p] = pair(first >> 8, second >> 8);
      result.low[i * pairs + p] = pair(first & 0xFF, second & 0xFF);
    }
  }
}

} // namespace

void compute_weights(int in, int out, Filter filter, ResampleWeights& result) {
  const double scale = static_cast<double>(in) / out;
  // Shrinking widens the filter, so that no input is passed over.
  const double stretch = std::max(scale, 1.0);
  const double reach = (filter == Filter::bicubic ? 2.0 : 1.0) * stretch;
  const double per_stretch = 1.0 / stretch;
  const int taps = taps_of(in, out, filter);
  const auto outputs = static_cast<std::size_t>(out);
  result.in = in;
  result.out = out;
  result.filter = filter;
  result.taps = taps;
  result.most = 0;
  result.first.resize(outputs);
  result.count.resize(outputs);
  result.weights.assign(outputs * static_cast<std::size_t>(taps), 0);
  std::vector<double> weight(static_cast<std::size_t>(taps));
  for (std::size_t i = 0; i < outputs; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const int first = std::max(static_cast<int>(centre - reach + 0.5), 0);
    const int end = std::min(static_cast<int>(centre + reach + 0.5), in);
    const auto count = static_cast<std::size_t>(end - first);
    double sum = 0;
    for (std::size_t t = 0; t < count; ++t) {
      const double x =
          (static_cast<double>(t) + first - centre + 0.5) * per_stretch;
      weight[t] = filter == Filter::bicubic ? cubic(x) : triangle(x);
      sum += weight[t];
    }
    std::int32_t* fixed =
        result.weights.data() + i * static_cast<std::size_t>(taps);
    for (std::size_t t = 0; t < count; ++t) {
      fixed[t] = fixed_point(sum != 0 ? weight[t] / sum : weight[t]);
    }
    result.first[i] = first;
    result.count[i] = end - first;
    result.most = std::max(result.most, end - first);
  }
  cut_into_pairs(result);
}

const ResampleWeights& WeightsCache::get(int in, int out, Filter filter) {
  const auto bytes = static_cast<std::size_t>(out) *
      static_cast<std::size_t>(taps_of(in, out, filter)) * sizeof(std::int32_t);
  const auto place =
      static_cast<std::size_t>(in) + static_cast<std::size_t>(out) * 31;
  ResampleWeights* slot =
      bytes > kLargestBytes ? &large_ : &slots_[place % kSlots];
  if (slot->in != in || slot->out != out || slot->filter != filter) {
    compute_weights(in, out, filter, *slot);
  }
  return *slot;
}

} // namespace temper::kernels
