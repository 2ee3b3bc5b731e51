#include "temper/data/sample/cached_source.h"

#include <atomic>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace temper::data {
namespace {

// Beside its pixels, a sample has this.
struct Kept {
  enum : std::uint8_t { empty, filling, full };
  std::atomic<std::uint8_t> state{empty};
  int warnings = 0;
  std::int64_t label = 0;
};

std::uint64_t image_bytes(const SourceInfo& info) {
  return static_cast<std::uint64_t>(info.width) *
      static_cast<std::uint64_t>(info.height) *
      static_cast<std::uint64_t>(info.channels);
}

class CachedSource : public IndexedSource {
 public:
  CachedSource(
      std::shared_ptr<const IndexedSource> source,
      std::unique_ptr<std::uint8_t[]> pixels)
      : source_(std::move(source)),
        kept_(static_cast<std::size_t>(source_->size())),
        pixels_(std::move(pixels)),
        image_bytes_(static_cast<std::size_t>(image_bytes(source_->info()))) {}

  const SourceInfo& info() const override {
    return source_->info();
  }
  std::int64_t size() const override {
    return source_->size();
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return source_->label(index);
  }
  std::string describe(std::int64_t index) const override {
    return source_->describe(index);
  }
  std::uint64_t fingerprint() const override {
    return source_->fingerprint();
  }
  const Content* content() const override {
    return source_->content();
  }

  void read(std::int64_t index, Sample& sample) const override {
    Kept& kept = kept_[static_cast<std::size_t>(index)];
    std::uint8_t* pixels =
        pixels_.get() + static_cast<std::size_t>(index) * image_bytes_;
    Image& image = sample.image;
    if (kept.state.load(std::memory_order_acquire) == Kept::full) {
      image.reshape(info().width, info().height, info().channels);
      std::memcpy(image.pixels(), pixels, image_bytes_);
      sample.label = kept.label;
      sample.warnings += kept.warnings;
      return;
    }
    const int warnings_before = sample.warnings;
    source_->read(index, sample);
    const bool as_announced = image.width() == info().width &&
        image.height() == info().height && image.channels() == info().channels;
    std::uint8_t expected = Kept::empty;
    // One thread keeps it; another that read it too has its own copy.
    if (!as_announced ||
        !kept.state.compare_exchange_strong(expected, Kept::filling))
      return;
    std::memcpy(pixels, image.pixels(), image_bytes_);
    kept.label = sample.label;
    kept.warnings = sample.warnings - warnings_before;
    kept.state.store(Kept::full, std::memory_order_release);
  }

 private:
  std::shared_ptr<const IndexedSource> source_;
  mutable std::vector<Kept> kept_;
  std::unique_ptr<std::uint8_t[]> pixels_;
  std::size_t image_bytes_;
};

} // namespace

std::uint64_t decoded_bytes(const IndexedSource& source) {
  const SourceInfo& info = source.info();
  if (info.input != Input::image || info.target != Target::label) return 0;
  const std::uint64_t one = image_bytes(info);
  const auto size = static_cast<std::uint64_t>(source.size());
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  if (one == 0 || size > kMost / (one + sizeof(Kept))) return 0;
  return size * (one + sizeof(Kept));
}

std::shared_ptr<const IndexedSource> cached(
    std::shared_ptr<const IndexedSource> source,
    std::uint64_t budget_bytes) {
  const std::uint64_t bytes = decoded_bytes(*source);
  if (bytes == 0 || bytes > budget_bytes) return source;
  // Untouched until a sample is kept: memory grows as the cache fills.
  std::unique_ptr<std::uint8_t[]> pixels(
      new (std::nothrow) std::uint8_t[static_cast<std::size_t>(bytes)]);
  if (!pixels) return source;
  return std::make_shared<CachedSource>(std::move(source), std::move(pixels));
}

} // namespace temper::data
