// Whole-number arithmetic and sums of floats in a fixed order only: sines and
// logarithms differ in their last bits between systems.
#include "temper/data/source/synthetic_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/random/permutation.h"
#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "temper/data/content/content.h"

namespace temper::data {
namespace {

// Samples that validate are numbered from here, above any that train.
constexpr std::int64_t kFirstOfVal = std::int64_t{1} << 41;

// Fixed for a dataset: the same for every sample of a class, channel, feature.
std::uint64_t trait(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return mix64(mix64(mix64(seed + 1) + a) + b);
}

// Between -1 and 1.
float signed_unit(std::uint64_t bits) {
  return static_cast<float>(static_cast<double>(bits >> 40) / 8388608.0 - 1.0);
}

// Nearly normal, deviation 1: the sum of the four bytes of a draw, through a
// table: a division a number is what rows would spend their time with.
float bell(std::uint32_t bits) {
  static const auto kBySum = [] {
    constexpr float kDeviation = 147.8F; // of the sum of four bytes
    std::array<float, 1021> table{};
    for (int sum = 0; sum <= 1020; ++sum)
      table[static_cast<std::size_t>(sum)] =
          static_cast<float>(sum - 510) / kDeviation;
    return table;
  }();
  const std::uint32_t pairs = (bits & 0xff00ffU) + (bits >> 8 & 0xff00ffU);
  return kBySum[(pairs & 0xffffU) + (pairs >> 16)];
}

// Numbers that the rows of a dataset share are kept up to so many of them.
constexpr std::int64_t kMostShared = std::int64_t{1} << 20;

// A triangle wave of 0..64, whose period is 256 steps.
int triangle(std::uint32_t step) {
  const int phase = static_cast<int>(step & 255U);
  return (phase < 128 ? phase : 255 - phase) / 2;
}

// Sets every byte to 0..63, eight at a time: made-up data should not be what
// a benchmark waits for.
void fill_with_noise(std::uint64_t key, Image& image) {
  std::uint8_t* out = image.pixels();
  const std::size_t bytes = image.bytes();
  for (std::size_t at = 0; at < bytes; at += 8) {
    // Little-endian, as every machine temper runs on.
    const std::uint64_t word = mix64(key << 32 | at) & 0x3f3f3f3f3f3f3f3fU;
    std::memcpy(out + at, &word, std::min<std::size_t>(8, bytes - at));
  }
}

// Adds the wave across and the level of the wave down to a row of pixels.
// Noise, wave and level are at most 63, 95 and 63: no byte overflows, so that
// eight are added as one whole number.
void add_waves(
    std::uint8_t* row,
    const std::vector<std::uint8_t>& across,
    const std::array<std::uint8_t, 3>& level,
    std::size_t channels) {
  constexpr std::size_t kRepeat = 24; // bytes: whole pixels and whole words
  std::array<std::uint8_t, kRepeat> levels{};
  for (std::size_t i = 0; i < kRepeat; ++i)
    levels[i] = level[i % channels];
  std::size_t at = 0;
  for (; at + kRepeat <= across.size(); at += kRepeat)
    for (std::size_t word = 0; word < kRepeat; word += 8) {
      std::array<std::uint64_t, 3> parts{};
      std::memcpy(&parts[0], row + at + word, 8);
      std::memcpy(&parts[1], across.data() + at + word, 8);
      std::memcpy(&parts[2], levels.data() + word, 8);
      parts[0] += parts[1] + parts[2];
      std::memcpy(row + at + word, parts.data(), 8);
    }
  for (; at < across.size(); ++at)
    row[at] =
        static_cast<std::uint8_t>(row[at] + across[at] + level[at % channels]);
}

} // namespace

SyntheticSource::SyntheticSource(
    SyntheticSpec spec,
    std::int64_t first,
    std::int64_t samples)
    : spec_(spec), first_(first), samples_(samples) {
  info_.name = "synthetic";
  info_.input = spec_.input;
  info_.target = spec_.target;
  if (spec_.input == Input::image) {
    info_.channels = spec_.channels;
    info_.height = spec_.size;
    info_.width = spec_.size;
    const auto channels = static_cast<std::size_t>(spec_.channels);
    info_.mean.assign(channels, 0.5F);
    info_.deviation.assign(channels, 0.25F);
  } else if (spec_.input == Input::numbers) {
    info_.shape = {spec_.features};
  } else {
    info_.shape = {spec_.sequence};
    info_.vocabulary = spec_.vocabulary;
    info_.target_size = spec_.sequence;
  }
  const std::int64_t owners =
      spec_.target == Target::label ? spec_.classes : spec_.targets;
  if (spec_.input == Input::numbers && owners > 0 &&
      spec_.features <= kMostShared / owners) {
    std::vector<float> kept;
    for (std::int64_t owner = 0; owner < owners; ++owner)
      for (std::size_t i = 0; i < static_cast<std::size_t>(spec_.features); ++i)
        kept.push_back(shared(owner, i));
    shared_ = std::move(kept);
  }
  if (spec_.target == Target::numbers) info_.target_size = spec_.targets;
  if (spec_.target == Target::label)
    for (int i = 0; i < spec_.classes; ++i)
      info_.classes.push_back(cat("class ", i));
}

std::optional<std::int64_t> SyntheticSource::label(std::int64_t index) const {
  if (spec_.target != Target::label) return std::nullopt;
  return (first_ + index) % spec_.classes;
}

void SyntheticSource::read(std::int64_t index, Sample& sample) const {
  check(0 <= index && index < samples_, "a sample is inside its source");
  sample.label = label(index).value_or(0);
  if (spec_.input == Input::image)
    make_image(first_ + index, sample);
  else if (spec_.input == Input::numbers)
    make_row(first_ + index, sample);
  else
    make_tokens(first_ + index, sample);
}

// A wave across and one down, of the class's own lengths in each channel,
// shifted by the sample, under noise.
void SyntheticSource::make_image(std::int64_t number, Sample& sample) const {
  RandomStream random(spec_.seed, 0, static_cast<std::uint64_t>(number));
  sample.image.reshape(spec_.size, spec_.size, spec_.channels);
  const auto channels = static_cast<std::size_t>(spec_.channels);
  std::array<std::uint32_t, 3> across{};
  std::array<std::uint32_t, 3> down{};
  std::array<std::uint32_t, 3> start{};
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint64_t own =
        trait(spec_.seed, static_cast<std::uint64_t>(sample.label), c);
    // One to eight waves over the image, in steps of 1/256 wave, times 256.
    const auto steps = [&](std::uint64_t waves) {
      return static_cast<std::uint32_t>(
          (1 + waves % 8) * 65536 / static_cast<std::uint64_t>(spec_.size));
    };
    across[c] = steps(own);
    down[c] = steps(own >> 8);
    start[c] = random.bits() & 0x3fffU; // up to a quarter of a wave
  }
  const std::size_t row = sample.image.row_bytes();
  sample.encoded.resize(row);
  for (std::size_t i = 0; i < row; ++i) {
    const std::size_t c = i % channels;
    const auto x = static_cast<std::uint32_t>(i / channels);
    sample.encoded[i] = static_cast<std::uint8_t>(
        32 + triangle((start[c] + across[c] * x) >> 8));
  }
  fill_with_noise(random.bits(), sample.image);
  for (int y = 0; y < spec_.size; ++y) {
    std::array<std::uint8_t, 3> level{};
    for (std::size_t c = 0; c < channels; ++c)
      level[c] = static_cast<std::uint8_t>(
          triangle((start[c] + down[c] * static_cast<std::uint32_t>(y)) >> 8));
    add_waves(sample.image.row(y), sample.encoded, level, channels);
  }
}

float SyntheticSource::shared(std::int64_t owner, std::size_t feature) const {
  const auto features = static_cast<std::size_t>(spec_.features);
  return shared_.empty()
      ? signed_unit(
            trait(spec_.seed, static_cast<std::uint64_t>(owner), feature))
      : shared_[static_cast<std::size_t>(owner) * features + feature];
}

// Features: noise around the class's point. Targets: a fixed sum of them.
void SyntheticSource::make_row(std::int64_t number, Sample& sample) const {
  RandomStream random(spec_.seed, 0, static_cast<std::uint64_t>(number));
  const auto features = static_cast<std::size_t>(spec_.features);
  sample.numbers.resize(features);
  const bool classes = spec_.target == Target::label;
  for (std::size_t i = 0; i < features; ++i)
    sample.numbers[i] = bell(random.bits());
  if (classes && !shared_.empty()) {
    const float* point =
        shared_.data() + static_cast<std::size_t>(sample.label) * features;
    for (std::size_t i = 0; i < features; ++i)
      sample.numbers[i] += point[i];
    return;
  }
  if (classes) {
    for (std::size_t i = 0; i < features; ++i)
      sample.numbers[i] += shared(sample.label, i);
    return;
  }
  const auto targets = static_cast<std::size_t>(spec_.targets);
  sample.target_numbers.resize(targets);
  for (std::size_t t = 0; t < targets; ++t) {
    // A product of two floats is exact in a double, so that a fused
    // multiply-add gives the same as two operations.
    double sum = static_cast<double>(bell(random.bits())) * 0.125;
    for (std::size_t i = 0; i < features; ++i)
      sum += static_cast<double>(shared(static_cast<std::int64_t>(t), i)) *
          static_cast<double>(sample.numbers[i]);
    sample.target_numbers[t] = static_cast<float>(sum);
  }
}

// Three times in four the token that its predecessor calls for, else any.
void SyntheticSource::make_tokens(std::int64_t number, Sample& sample) const {
  RandomStream random(spec_.seed, 0, static_cast<std::uint64_t>(number));
  const auto length = static_cast<std::size_t>(spec_.sequence);
  const auto words = static_cast<std::uint32_t>(spec_.vocabulary);
  sample.tokens.resize(length);
  sample.target_tokens.resize(length);
  std::uint32_t token = random.below(words);
  for (std::size_t i = 0; i < length; ++i) {
    sample.tokens[i] = token;
    token = random.below(4) != 0
        ? static_cast<std::uint32_t>(trait(spec_.seed, token, 0) % words)
        : random.below(words);
    sample.target_tokens[i] = token;
  }
}

std::uint64_t SyntheticSource::fingerprint() const {
  Hasher hasher;
  hasher.add("synthetic");
  for (const std::int64_t part :
       {static_cast<std::int64_t>(spec_.input),
        static_cast<std::int64_t>(spec_.target),
        first_,
        samples_,
        std::int64_t{spec_.size},
        std::int64_t{spec_.channels},
        std::int64_t{spec_.classes},
        std::int64_t{spec_.features},
        std::int64_t{spec_.targets},
        std::int64_t{spec_.vocabulary},
        std::int64_t{spec_.sequence},
        static_cast<std::int64_t>(spec_.seed)})
    hasher.add(static_cast<std::uint64_t>(part));
  return hasher.value();
}

const Content* SyntheticSource::content() const {
  static const Content none(0, nullptr, {});
  return &none;
}

Splits open_synthetic(std::string_view text, const OpenOptions& options) {
  const SyntheticSpec spec = parse_synthetic(text, options.sequence);
  const double fraction = std::clamp(options.val_fraction, 0.0, 1.0);
  const auto val = static_cast<std::int64_t>(
      std::llround(static_cast<double>(spec.samples) * fraction));
  Splits splits;
  if (options.whole) { // apart from what a source of the same spec trains on
    splits.train =
        std::make_shared<SyntheticSource>(spec, kFirstOfVal, spec.samples);
    return splits;
  }
  // The number that was asked for trains; validation is made on top.
  splits.train = std::make_shared<SyntheticSource>(spec, 0, spec.samples);
  if (val > 0)
    splits.val = std::make_shared<SyntheticSource>(spec, kFirstOfVal, val);
  return splits;
}

} // namespace temper::data
