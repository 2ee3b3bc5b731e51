#include "temper/data/sample/first_samples.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

struct KeptSample {
  Sample sample;
  std::optional<BadSample> bad;
};

std::uint64_t sample_bytes(const Sample& sample) {
  return sample.image.bytes() + sample.numbers.size() * sizeof(float) +
      sample.tokens.size() * sizeof(std::int64_t);
}

void copy(const Sample& from, Sample& to) {
  const Image& image = from.image;
  to.image.reshape(image.width(), image.height(), image.channels());
  if (image.bytes() > 0)
    std::memcpy(to.image.pixels(), image.pixels(), image.bytes());
  to.numbers = from.numbers;
  to.tokens = from.tokens;
  to.label = from.label;
  to.target_numbers = from.target_numbers;
  to.target_tokens = from.target_tokens;
  to.warnings = from.warnings;
}

class FirstSamples final : public IndexedSource {
 public:
  FirstSamples(StreamSource& stream, const FirstSamplesOptions& options)
      : info_(stream.info()) {
    stream.restart(options.seed, 0);
    std::uint64_t bytes = 0;
    while (size() < options.most && bytes < options.most_bytes) {
      if (!read_next(stream)) break;
      bytes += sample_bytes(kept_.back().sample);
      if (options.progress) options.progress(size());
    }
    name_classes();
  }

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(kept_.size());
  }
  void read(std::int64_t index, Sample& sample) const override {
    const KeptSample& kept = kept_.at(static_cast<std::size_t>(index));
    if (kept.bad) throw BadSample(*kept.bad);
    copy(kept.sample, sample);
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    const KeptSample& kept = kept_.at(static_cast<std::size_t>(index));
    if (kept.bad || info_.target != Target::label) return std::nullopt;
    return kept.sample.label;
  }
  std::string describe(std::int64_t index) const override {
    return cat("sample ", index + 1, " of ", info_.name);
  }
  std::uint64_t fingerprint() const override {
    Hasher hasher;
    hasher.add(info_.name);
    hasher.add(static_cast<std::uint64_t>(size()));
    return hasher.value();
  }

 private:
  bool read_next(StreamSource& stream) {
    KeptSample kept;
    try {
      if (!stream.next(kept.sample)) return false;
      kept.sample.encoded = {};
    } catch (const BadSample& bad) {
      kept.bad = bad;
    }
    kept_.push_back(std::move(kept));
    return true;
  }

  void name_classes() {
    if (info_.target != Target::label || !info_.classes.empty()) return;
    std::int64_t highest = -1;
    for (const KeptSample& kept : kept_)
      if (!kept.bad && kept.sample.label < kMostClasses)
        highest = std::max(highest, kept.sample.label);
    for (std::int64_t i = 0; i <= highest; ++i)
      info_.classes.push_back(std::to_string(i));
  }

  SourceInfo info_;
  std::deque<KeptSample> kept_;
};

} // namespace

std::shared_ptr<const IndexedSource> first_samples(
    StreamSource& stream,
    const FirstSamplesOptions& options) {
  return std::make_shared<FirstSamples>(stream, options);
}

} // namespace temper::data
