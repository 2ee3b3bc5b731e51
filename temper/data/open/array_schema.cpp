#include "temper/data/open/array_schema.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/open/moments.h"

namespace temper::data {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kMostChannels = 4;

std::int64_t numbers_in(const Shape& shape) {
  return std::accumulate(
      shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// How an array that is to be an image lies: "HW", "HWC", or empty for one that
// begins with its channels, or is no image.
std::string order_of(const Shape& shape) {
  if (shape.size() == 2) return "HW";
  if (shape.size() != 3 || shape[0] <= kMostChannels) return "";
  return shape[2] <= kMostChannels ? "HWC" : "";
}

Shape ordered(const Shape& shape, const std::string& order) {
  if (order == "HW" && shape.size() == 2) return {1, shape[0], shape[1]};
  if (order == "HWC" && shape.size() == 3)
    return {shape[2], shape[0], shape[1]};
  return shape;
}

// Channels to the front.
void reorder(const Shape& from, std::vector<float>& numbers) {
  thread_local std::vector<float> before;
  before.swap(numbers);
  numbers.resize(before.size());
  const auto channels = static_cast<std::size_t>(from[2]);
  const std::size_t pixels = before.size() / channels;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    for (std::size_t c = 0; c < channels; ++c)
      numbers[c * pixels + pixel] = before[pixel * channels + c];
}

// (x - mean) / deviation for each of equal parts of the numbers.
void scale(
    std::vector<float>& numbers,
    const std::vector<double>& mean,
    const std::vector<double>& deviation) {
  if (mean.empty()) return;
  const std::size_t part = numbers.size() / mean.size();
  for (std::size_t at = 0; at < mean.size(); ++at) {
    const bool last = at + 1 == mean.size();
    const std::size_t end = last ? numbers.size() : (at + 1) * part;
    for (std::size_t i = at * part; i < end; ++i)
      numbers[i] = static_cast<float>(
          (static_cast<double>(numbers[i]) - mean[at]) / deviation[at]);
  }
}

class ShapedSource final : public IndexedSource {
 public:
  ShapedSource(std::shared_ptr<const IndexedSource> source, Schema schema)
      : source_(std::move(source)),
        schema_(std::move(schema)),
        info_(source_->info()),
        schema_hash_(hash64(to_json(schema_))) {
    if (schema_.array) info_.shape = ordered(info_.shape, schema_.array->order);
    channels_last_ = schema_.array && schema_.array->order == "HWC" &&
        source_->info().shape.size() == 3;
  }

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return source_->size();
  }
  void read(std::int64_t index, Sample& sample) const override {
    source_->read(index, sample);
    if (channels_last_) reorder(source_->info().shape, sample.numbers);
    if (schema_.array)
      scale(sample.numbers, schema_.array->mean, schema_.array->deviation);
    if (info_.target == Target::numbers)
      scale(
          sample.target_numbers, schema_.target_mean, schema_.target_deviation);
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return source_->label(index);
  }
  std::string describe(std::int64_t index) const override {
    return source_->describe(index);
  }
  const Content* content() const override {
    return source_->content();
  }
  std::uint64_t fingerprint() const override {
    Hasher hasher;
    hasher.add(source_->fingerprint());
    hasher.add(schema_hash_);
    return hasher.value();
  }

 private:
  std::shared_ptr<const IndexedSource> source_;
  Schema schema_;
  SourceInfo info_;
  bool channels_last_ = false;
  std::uint64_t schema_hash_;
};

void add_all(std::vector<Moments>& moments, const std::vector<float>& numbers) {
  const std::size_t part =
      std::max<std::size_t>(numbers.size() / moments.size(), 1);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (std::isfinite(numbers[i]))
      moments[std::min(i / part, moments.size() - 1)].add(
          static_cast<double>(numbers[i]));
}

// Means and deviations with which numbers stay as they are.
struct Tame {
  double farthest_mean;
  double narrowest;
  double widest;
};

// Inputs that somebody has standardised. Pixels of 0 to 1 are not: a network
// learns from them, but BatchNorm's averages, which begin at 0 and 1, take
// epochs to get there.
constexpr Tame kTameInputs{0.5, 0.5, 2};
// Targets that a network with fresh weights can reach.
constexpr Tame kTameTargets{2, 0.1, 4};

bool is_tame(const std::vector<Moments>& moments, const Tame& tame) {
  return std::all_of(moments.begin(), moments.end(), [&](const Moments& each) {
    const double deviation = each.scale(); // 1 for numbers that are all equal
    return std::abs(each.mean()) <= tame.farthest_mean &&
        deviation >= tame.narrowest && deviation <= tame.widest;
  });
}

void keep(
    const std::vector<Moments>& moments,
    std::vector<double>& mean,
    std::vector<double>& deviation) {
  for (const Moments& each : moments) {
    mean.push_back(each.mean());
    deviation.push_back(each.scale());
  }
}

std::string range_text(const std::vector<Moments>& moments) {
  double low = moments.front().low();
  double high = moments.front().high();
  for (const Moments& each : moments) {
    low = std::min(low, each.low());
    high = std::max(high, each.high());
  }
  return cat(low, " to ", high);
}

// A mean and deviation for each feature of a row, each channel of an image, or
// one for all.
std::size_t scales_of(const Shape& shape) {
  const bool each = shape.size() == 1 || shape[0] <= kMostChannels;
  return each ? static_cast<std::size_t>(std::max<std::int64_t>(shape[0], 1))
              : 1;
}

struct Statistics {
  std::vector<Moments> inputs;
  std::vector<Moments> targets;
};

Statistics measure(const IndexedSource& train, const Schema& schema) {
  constexpr std::int64_t kSamples = 10'000;
  constexpr std::int64_t kNumbers = std::int64_t{1} << 25;
  Statistics found;
  const SourceInfo& info = train.info();
  std::int64_t in_sample = 1;
  if (info.input == Input::numbers) {
    in_sample = std::max<std::int64_t>(numbers_in(info.shape), 1);
    found.inputs.resize(scales_of(schema.input_shape));
  }
  if (info.target == Target::numbers)
    found.targets.resize(static_cast<std::size_t>(info.target_size));
  const std::int64_t most =
      std::clamp<std::int64_t>(kNumbers / in_sample, 1, kSamples);
  const std::int64_t count = std::min(train.size(), most);
  const bool last = schema.array && schema.array->order == "HWC";
  Sample sample;
  for (std::int64_t i = 0; i < count; ++i) {
    try {
      train.read(i * train.size() / count, sample);
    } catch (const BadSample&) {
      continue; // the loader tells it
    }
    if (last) reorder(info.shape, sample.numbers);
    if (!found.inputs.empty()) add_all(found.inputs, sample.numbers);
    if (!found.targets.empty()) add_all(found.targets, sample.target_numbers);
  }
  return found;
}

} // namespace

void learn_array(
    const IndexedSource& train,
    const NumberOptions& options,
    Schema& schema,
    std::vector<std::string>& notes) {
  const SourceInfo& info = train.info();
  if (info.input == Input::numbers) {
    schema.array = ArrayRule{};
    if (options.as_images) schema.array->order = order_of(info.shape);
    schema.input_shape = ordered(info.shape, schema.array->order);
  }
  const bool inputs =
      info.input == Input::numbers && options.scale && options.scale_arrays;
  const bool targets =
      info.target == Target::numbers && options.scale && options.scale_targets;
  if (!inputs && !targets) return;
  const Statistics found = measure(train, schema);
  if (inputs && !is_tame(found.inputs, kTameInputs)) {
    keep(found.inputs, schema.array->mean, schema.array->deviation);
    notes.push_back(
        cat("inputs of ",
            range_text(found.inputs),
            " are standardised by the training part (data.scale)"));
  }
  if (targets && !is_tame(found.targets, kTameTargets))
    keep(found.targets, schema.target_mean, schema.target_deviation);
}

std::shared_ptr<const IndexedSource> shaped_array(
    std::shared_ptr<const IndexedSource> source,
    const Schema& schema) {
  const bool inputs = schema.array &&
      (!schema.array->order.empty() || !schema.array->mean.empty()) &&
      source->info().input == Input::numbers;
  const bool targets =
      !schema.target_mean.empty() && source->info().target == Target::numbers;
  if (!inputs && !targets) return source;
  return std::make_shared<ShapedSource>(std::move(source), schema);
}

} // namespace temper::data
