#include "temper/train/metrics/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace temper::train {
namespace {

constexpr std::size_t kBuckets = 30;

} // namespace

std::optional<Histogram> histogram_of(const graph::TensorData& tensor) {
  if (tensor.dtype != graph::DType::kFloat32) return std::nullopt;
  const auto* numbers = reinterpret_cast<const float*>(tensor.bytes.get());
  const std::size_t count = tensor.byte_count / sizeof(float);
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  std::int64_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) continue;
    low = std::min(low, numbers[i]);
    high = std::max(high, numbers[i]);
    ++finite;
  }
  if (finite == 0) return std::nullopt;
  Histogram made{static_cast<double>(low), static_cast<double>(high), {finite}};
  if (low == high) return made;
  made.counts.assign(kBuckets, 0);
  const double scale = static_cast<double>(kBuckets) / (made.high - made.low);
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) continue;
    const auto at = static_cast<std::size_t>(
        (static_cast<double>(numbers[i]) - made.low) * scale);
    ++made.counts[std::min(at, kBuckets - 1)];
  }
  return made;
}

std::string spreads_json(const graph::Weights& tensors) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, tensor] : tensors)
    if (const auto spread = histogram_of(tensor))
      all[name] = {
          {"low", spread->low},
          {"high", spread->high},
          {"counts", spread->counts}};
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace temper::train
