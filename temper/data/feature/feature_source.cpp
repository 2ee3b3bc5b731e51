#include "temper/data/feature/feature_source.h"

#include <cstring>
#include <utility>

#include "temper/base/text.h"

namespace temper::data {
namespace {

class FeatureSource final : public IndexedSource {
 public:
  FeatureSource(
      std::shared_ptr<const FeatureFile> file,
      std::shared_ptr<const IndexedSource> made_from,
      const std::vector<std::int64_t>& shape)
      : file_(std::move(file)),
        made_from_(std::move(made_from)),
        info_(feature_info(made_from_->info(), shape)) {}

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return made_from_->size();
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return made_from_->label(index);
  }
  std::string describe(std::int64_t index) const override {
    return made_from_->describe(index);
  }
  // Its order and its resume are those of the source it was made from.
  std::uint64_t fingerprint() const override {
    return made_from_->fingerprint();
  }
  const Content* content() const override {
    return made_from_->content();
  }

  void read(std::int64_t index, Sample& sample) const override {
    if (!file_->has(index))
      throw BadSample(
          cat("[data] ",
              describe(index),
              " could not be read when its features were computed."));
    const auto values = static_cast<std::size_t>(file_->about().layout.values);
    const float* features = file_->values(index);
    sample.numbers.assign(features, features + values);
    const void* target = file_->target(index);
    const auto count = static_cast<std::size_t>(info_.target_size);
    switch (info_.target) {
      case Target::label:
        std::memcpy(&sample.label, target, sizeof sample.label);
        return;
      case Target::numbers:
        sample.target_numbers.resize(count);
        std::memcpy(
            sample.target_numbers.data(), target, count * sizeof(float));
        return;
      case Target::tokens:
        sample.target_tokens.resize(count);
        std::memcpy(
            sample.target_tokens.data(), target, count * sizeof(std::int64_t));
        return;
    }
  }

 private:
  std::shared_ptr<const FeatureFile> file_;
  std::shared_ptr<const IndexedSource> made_from_;
  SourceInfo info_;
};

} // namespace

SourceInfo feature_info(
    const SourceInfo& source,
    const std::vector<std::int64_t>& shape) {
  SourceInfo info = source;
  info.input = Input::numbers;
  info.shape = shape;
  info.channels = info.height = info.width = 0;
  info.mean.clear();
  info.deviation.clear();
  return info;
}

std::int64_t feature_target_bytes(const SourceInfo& source) {
  switch (source.target) {
    case Target::label:
      return sizeof(std::int64_t);
    case Target::numbers:
      return source.target_size * std::int64_t{sizeof(float)};
    case Target::tokens:
      return source.target_size * std::int64_t{sizeof(std::int64_t)};
  }
  throw Bug("a target outside the table");
}

std::shared_ptr<const IndexedSource> feature_source(
    std::shared_ptr<const FeatureFile> file,
    std::shared_ptr<const IndexedSource> made_from,
    const std::vector<std::int64_t>& shape) {
  return std::make_shared<FeatureSource>(
      std::move(file), std::move(made_from), shape);
}

} // namespace temper::data
