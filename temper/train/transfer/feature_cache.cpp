#include "temper/train/transfer/feature_cache.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/content/content.h"
#include "temper/data/feature/feature_source.h"
#include "temper/data/feature/feature_store.h"
#include "temper/graph/ir/weights.h"

namespace temper::train {
namespace {

using Clock = std::chrono::steady_clock;

void add_sample(Hasher& hasher, const data::Sample& sample) {
  hasher.add(sample.image.pixels(), sample.image.bytes());
  hasher.add(sample.numbers.data(), sample.numbers.size() * sizeof(float));
  hasher.add(sample.tokens.data(), sample.tokens.size() * sizeof(std::int64_t));
  hasher.add(static_cast<std::uint64_t>(sample.label));
  hasher.add(
      sample.target_numbers.data(),
      sample.target_numbers.size() * sizeof(float));
  hasher.add(
      sample.target_tokens.data(),
      sample.target_tokens.size() * sizeof(std::int64_t));
}

// A fingerprint that follows from what files hold is enough, unless there is
// too much of it to be read; then the times of the files are in it, too. All
// samples are read of a source that cannot tell what it holds.
std::uint64_t content_hash(const data::IndexedSource& source) {
  if (source.content() != nullptr) return source.content()->value_here();
  Hasher hasher;
  for (std::int64_t i = 0; i < source.size(); ++i) {
    data::Sample sample;
    try {
      source.read(i, sample);
      add_sample(hasher, sample);
    } catch (const data::BadSample&) {
      hasher.add(std::string_view("bad"));
    }
  }
  return hasher.value();
}

data::FeatureLayout layout_of(
    const FeatureView& view,
    const FeatureExtractor& extractor) {
  return {
      view.source->size(),
      graph::element_count(extractor.shape()),
      data::feature_target_bytes(view.source->info())};
}

const std::uint8_t*
target_of(const data::HostBatch& batch, std::int64_t target_bytes, int sample) {
  const auto* all = batch.labels != nullptr
      ? reinterpret_cast<const std::uint8_t*>(batch.labels)
      : reinterpret_cast<const std::uint8_t*>(batch.target_numbers);
  return all + target_bytes * sample;
}

// Half of the batch, backwards: other neighbours, other places, padding. Only
// what gives the same bits then can be computed once for all epochs.
bool depends_on_neighbours(
    const data::HostBatch& batch,
    const std::vector<float>& features,
    FeatureExtractor& extractor) {
  std::size_t values = 1;
  for (const std::int64_t extent : batch.shape)
    values *= static_cast<std::size_t>(extent);
  const std::size_t input_bytes = values * data::bytes_of(batch.element);
  const auto count = static_cast<std::size_t>((batch.size + 1) / 2);
  std::vector<std::uint8_t> backwards(count * input_bytes);
  const auto* inputs = static_cast<const std::uint8_t*>(batch.inputs);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(
        &backwards[i * input_bytes],
        inputs + (count - 1 - i) * input_bytes,
        input_bytes);
  data::HostBatch half = batch;
  half.size = static_cast<int>(count);
  half.inputs = backwards.data();
  const std::size_t width =
      features.size() / static_cast<std::size_t>(batch.size);
  std::vector<float> again(count * width);
  extractor.compute(half, again.data());
  for (std::size_t i = 0; i < count; ++i)
    if (std::memcmp(
            &again[i * width],
            &features[(count - 1 - i) * width],
            width * sizeof(float)) != 0)
      return true;
  return false;
}

class Computation {
 public:
  Computation(const FeatureCacheOptions& options, FeatureExtractor& extractor)
      : options_(options), extractor_(extractor) {}

  // Why they cannot be kept; empty: they are.
  std::string compute(const FeatureView& view, std::uint64_t key) {
    if (options_.progress) options_.progress(done_, total_);
    const auto begin = Clock::now();
    const data::FeatureLayout layout = layout_of(view, extractor_);
    data::FeatureWriter writer(
        data::feature_path(options_.folder, key), {layout, key, 0, view.what});
    data::LoaderOptions loader = options_.loader;
    loader.shuffle = false;
    loader.drop_last = false;
    // The run skips or replaces it again when it comes to it.
    if (loader.bad == data::BadPolicy::replace)
      loader.bad = data::BadPolicy::skip;
    data::Loader batches(view.source, view.augment, loader);
    batches.start(view.view);
    std::vector<float> features;
    const auto values = static_cast<std::size_t>(layout.values);
    while (const data::HostBatch* batch = batches.next()) {
      features.resize(static_cast<std::size_t>(batch->size) * values);
      extractor_.compute(*batch, features.data());
      if (!std::exchange(tried_, true) &&
          depends_on_neighbours(*batch, features, extractor_))
        return "they depend on which samples share a batch";
      for (int i = 0; i < batch->size; ++i)
        writer.add(
            batch->indices[i],
            &features[static_cast<std::size_t>(i) * values],
            target_of(*batch, layout.target_bytes, i));
      done_ += batch->size;
      if (options_.progress) options_.progress(done_, total_);
    }
    const data::Content* content = view.source->content();
    if (content != nullptr && !content->is_unchanged())
      return "the data changed while they were computed";
    writer.commit(seconds_since(begin));
    return "";
  }

  void expect(std::int64_t samples) {
    total_ += samples;
  }

 private:
  const FeatureCacheOptions& options_;
  FeatureExtractor& extractor_;
  bool tried_ = false;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

using File = std::shared_ptr<const data::FeatureFile>;

File open(
    const FeatureView& view,
    std::uint64_t key,
    const FeatureCacheOptions& options,
    const FeatureExtractor& extractor) {
  const auto path = data::feature_path(options.folder, key);
  std::string why;
  File file =
      data::FeatureFile::open(path, key, layout_of(view, extractor), why);
  if (file != nullptr) data::mark_used(path);
  if (!why.empty())
    log::warn(
        cat("[train] the kept features in ",
            path.string(),
            " are computed again: ",
            why,
            "."));
  return file;
}

} // namespace

std::uint64_t feature_key(
    const FeatureView& view,
    const FeatureCacheOptions& options,
    const FeatureExtractor& extractor) {
  Hasher hasher;
  hasher.add(options.frozen_hash);
  hasher.add(std::string_view(extractor.place()));
  hasher.add(view.source->fingerprint());
  hasher.add(static_cast<std::uint64_t>(view.source->size()));
  hasher.add(content_hash(*view.source));
  hasher.add(static_cast<std::uint64_t>(options.loader.element));
  hasher.add(view.augment != nullptr ? view.augment->hash() : 0);
  if (view.augment != nullptr && view.augment->is_random()) {
    hasher.add(options.loader.seed);
    hasher.add(std::uint64_t{view.view});
  }
  return hasher.value();
}

CachedFeatures cached_features(
    const std::vector<FeatureView>& views,
    const FeatureCacheOptions& options,
    FeatureExtractor& extractor) {
  CachedFeatures made;
  if (options.folder.empty()) {
    made.why_not = "there is no cache directory";
    return made;
  }
  std::vector<std::uint64_t> keys;
  std::vector<File> files;
  Computation computation(options, extractor);
  std::uint64_t missing_bytes = 0;
  for (const FeatureView& view : views) {
    keys.push_back(feature_key(view, options, extractor));
    files.push_back(open(view, keys.back(), options, extractor));
    const data::FeatureLayout layout = layout_of(view, extractor);
    made.samples += layout.samples;
    made.bytes += layout.file_bytes();
    if (files.back() != nullptr) continue;
    missing_bytes += layout.file_bytes();
    computation.expect(layout.samples);
  }
  if (missing_bytes > 0)
    made.why_not =
        data::make_room(options.folder, missing_bytes, options.most_bytes);
  for (std::size_t i = 0; i < views.size() && made.why_not.empty(); ++i) {
    if (files[i] == nullptr) {
      made.why_not = computation.compute(views[i], keys[i]);
      if (!made.why_not.empty()) break;
      made.computed += views[i].source->size();
      files[i] = open(views[i], keys[i], options, extractor);
      if (files[i] == nullptr)
        throw Error(
            cat("[train] ",
                data::feature_path(options.folder, keys[i]).string(),
                " does not hold what was written to it."),
            "Check the disk, or set model.feature_cache = \"off\".");
    }
    made.compute_s += files[i]->about().seconds;
  }
  if (!made.why_not.empty()) return made;
  for (std::size_t i = 0; i < views.size(); ++i)
    made.sources.push_back(
        data::feature_source(files[i], views[i].source, extractor.shape()));
  return made;
}

} // namespace temper::train
