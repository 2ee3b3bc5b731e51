// Features of a whole source, computed once and kept on disk, or found there.
// What they follow from (weights, data, transforms, view, machine) is their
// key; a file that is damaged or stale is computed again. No torch.
// Private to train/transfer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "temper/data/feature/feature_file.h"
#include "temper/data/loader/loader.h"
#include "temper/data/sample/source.h"
#include "temper/data/transform/transform.h"
#include "temper/train/engine/features.h"

namespace temper::train {

// One part of the data, seen once.
struct FeatureView {
  std::shared_ptr<const data::IndexedSource> source;
  std::shared_ptr<const data::Augment> augment; // null: not images
  std::uint32_t view = 0; // the epoch whose random numbers it has
  std::string what; // "mobilenet_v2 on cifar10, train"
};

struct FeatureCacheOptions {
  std::filesystem::path folder;
  std::uint64_t most_bytes = 0; // 0: a quarter of what the disk has free
  std::uint64_t frozen_hash = 0; // of the prefix and its weights
  data::LoaderOptions loader; // the run's own
  // Samples done and all; may throw to give up.
  std::function<void(std::int64_t, std::int64_t)> progress;
};

std::uint64_t feature_key(
    const FeatureView& view,
    const FeatureCacheOptions& options,
    const FeatureExtractor& extractor);

struct CachedFeatures {
  // The features of each view, in their order; empty when they are not kept.
  std::vector<std::shared_ptr<const data::IndexedSource>> sources;
  std::string why_not;
  std::int64_t samples = 0;
  std::int64_t computed = 0; // of them; the others were found
  std::uint64_t bytes = 0;
  double compute_s = 0; // what computing all of them takes
};

// All views, or none of them.
CachedFeatures cached_features(
    const std::vector<FeatureView>& views,
    const FeatureCacheOptions& options,
    FeatureExtractor& extractor);

} // namespace temper::train
