// Sources made up for the tests of the loaders, and what they expect of them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/digest/hash.h"
#include "temper/base/random/permutation.h"
#include "temper/base/text.h"
#include "temper/data/loader/loader.h"

namespace temper::data {

// Images whose pixels follow from their index.
class MadeSource : public IndexedSource {
 public:
  MadeSource(std::int64_t size, int side, int channels = 3) : size_(size) {
    info_.name = "made";
    info_.channels = channels;
    info_.height = side;
    info_.width = side;
    info_.classes = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override {
    if (before) before(index);
    sample.image.reshape(info_.width, info_.height, info_.channels);
    std::uint64_t word = mix64(static_cast<std::uint64_t>(index));
    for (std::size_t i = 0; i < sample.image.bytes(); ++i) {
      if (i % 64 == 0) word = mix64(word);
      sample.image.pixels()[i] = static_cast<std::uint8_t>(word >> (i % 8 * 8));
    }
    sample.label = index % 10;
  }
  std::uint64_t fingerprint() const override {
    return print + static_cast<std::uint64_t>(size_);
  }

  SourceInfo info_;
  std::int64_t size_;
  std::uint64_t print = 1000;
  // Called before each read; may throw.
  std::function<void(std::int64_t)> before;
};

// Pads by one, crops at a random place: draws, and changes size in between.
class ShiftAround : public Transform {
 public:
  void apply(Image& image, Image& spare, RandomStream& random) const override {
    const int dx = static_cast<int>(random.below(3)) - 1;
    const int dy = static_cast<int>(random.below(3)) - 1;
    const int channels = image.channels();
    spare.reshape(image.width(), image.height(), channels);
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x)
        for (int c = 0; c < channels; ++c) {
          const bool inside = x + dx >= 0 && x + dx < image.width() &&
              y + dy >= 0 && y + dy < image.height();
          spare.row(y)[x * channels + c] =
              inside ? image.row(y + dy)[(x + dx) * channels + c] : 0;
        }
    std::swap(image, spare);
  }
  std::string describe() const override {
    return "shift_around";
  }
};

inline std::shared_ptr<Augment> shifting() {
  auto augment = std::make_shared<Augment>();
  augment->name = "shifting";
  augment->transforms.push_back(std::make_shared<ShiftAround>());
  augment->transforms.push_back(std::make_shared<ShiftAround>());
  augment->mean = {0.5F, 0.4F, 0.3F};
  augment->deviation = {0.2F, 0.25F, 0.3F};
  augment->erase_probability = 0.5;
  return augment;
}

inline std::uint64_t hash_of(const HostBatch& batch, bool labels = true) {
  std::size_t count = 1;
  for (const auto extent : batch.shape)
    count *= static_cast<std::size_t>(extent);
  const auto size = static_cast<std::size_t>(batch.size);
  Hasher hasher;
  hasher.add(static_cast<std::uint64_t>(batch.number));
  hasher.add(static_cast<std::uint64_t>(size));
  hasher.add(batch.inputs, size * count * bytes_of(batch.element));
  if (labels) hasher.add(batch.labels, size * sizeof(std::int64_t));
  hasher.add(batch.indices, size * sizeof(std::int64_t));
  return hasher.value();
}

// The hashes of the batches from here to the end of the epoch.
template <class AnyLoader>
std::vector<std::uint64_t> hashes_of(AnyLoader& loader) {
  std::vector<std::uint64_t> hashes;
  while (const HostBatch* batch = loader.next())
    hashes.push_back(hash_of(*batch));
  return hashes;
}

// The error that the loader throws on the way to the end; empty: none.
template <class AnyLoader>
std::string error_of(AnyLoader& loader) {
  try {
    while (loader.next() != nullptr) {
    }
  } catch (const Error& error) {
    return cat(error.what(), " | ", error.hint());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return cat(error.what(), " | ", error.hint());
  }
  return "";
}

} // namespace temper::data
