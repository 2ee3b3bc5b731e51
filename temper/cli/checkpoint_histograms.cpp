#include "temper/cli/checkpoint_histograms.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "temper/base/text.h"
#include "temper/model/safetensors.h"

namespace temper::cli {
namespace {

constexpr std::size_t kBuckets = 30;

std::vector<float> floats_of(const graph::TensorData& tensor) {
  if (tensor.dtype != graph::DType::kFloat32) return {};
  std::vector<float> values(tensor.byte_count / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), tensor.bytes.get(), tensor.byte_count);
  return values;
}

// "model.head.bias" -> "weights/head.bias"; empty: not shown.
std::string shown_name(const std::string& name) {
  const std::string weights = "model.";
  const std::string gradients = "optimizer.first.";
  if (starts_with(name, weights))
    return cat("weights/", name.substr(weights.size()));
  if (starts_with(name, gradients))
    return cat("gradients/", name.substr(gradients.size()));
  return "";
}

} // namespace

std::vector<track::Histogram::Bucket> buckets_of(
    const graph::TensorData& tensor) {
  std::vector<float> values = floats_of(tensor);
  values.erase(
      std::remove_if(
          values.begin(),
          values.end(),
          [](float value) { return !std::isfinite(value); }),
      values.end());
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double left = static_cast<double>(*low);
  const double right = static_cast<double>(*high);
  if (left == right) return {{left, right, static_cast<double>(values.size())}};
  const double width = (right - left) / static_cast<double>(kBuckets);
  std::vector<track::Histogram::Bucket> buckets(kBuckets);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    buckets[i].left = left + width * static_cast<double>(i);
    buckets[i].right = left + width * static_cast<double>(i + 1);
  }
  for (const float value : values) {
    const auto at =
        static_cast<std::size_t>((static_cast<double>(value) - left) / width);
    buckets[std::min(at, kBuckets - 1)].count += 1;
  }
  return buckets;
}

std::vector<track::Histogram> checkpoint_histograms(
    const std::filesystem::path& checkpoint) {
  std::vector<track::Histogram> made;
  for (const auto& [name, tensor] :
       model::read_safetensors(checkpoint / "state.safetensors")) {
    const std::string shown = shown_name(name);
    if (shown.empty()) continue;
    auto buckets = buckets_of(tensor);
    if (!buckets.empty()) made.push_back({shown, std::move(buckets)});
  }
  return made;
}

} // namespace temper::cli
