// A frozen part made up for tests, and runs of the cache over it. No torch.
#pragma once

#include <atomic>
#include <memory>
#include <numeric>
#include <vector>

#include "temper/train/transfer/feature_cache.h"
#include "tests/data/loader/loader_samples.h"

namespace temper::train {

// Two features: the first pixel and the sum of all. Counts what it computes.
class MadeExtractor final : public FeatureExtractor {
 public:
  const std::vector<std::int64_t>& shape() const override {
    return shape_;
  }
  void compute(const data::HostBatch& batch, float* features) override {
    std::size_t values = 1;
    for (const auto extent : batch.shape)
      values *= static_cast<std::size_t>(extent);
    const auto* inputs = static_cast<const float*>(batch.inputs);
    for (int i = 0; i < batch.size; ++i, inputs += values) {
      features[2 * i] =
          inputs[0] + (leaks ? static_cast<float>(batch.size) : 0);
      features[2 * i + 1] = std::accumulate(inputs, inputs + values, 0.0F);
    }
    computed += batch.size;
  }
  std::string place() const override {
    return where;
  }

  std::int64_t computed = 0;
  bool leaks = false; // of the neighbours
  std::string where = "here";

 private:
  std::vector<std::int64_t> shape_{2};
};

inline FeatureCacheOptions cache_in(const std::filesystem::path& folder) {
  FeatureCacheOptions options;
  options.folder = folder;
  options.frozen_hash = 77;
  options.loader.batch = 4;
  options.loader.workers = 1;
  options.loader.autotune = false;
  options.loader.seed = 5;
  return options;
}

} // namespace temper::train
