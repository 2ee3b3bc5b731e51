#include "temper/data/sample/limited_source.h"

#include <utility>

#include "temper/base/digest/hash.h"

namespace temper::data {
namespace {

class LimitedSource final : public IndexedSource {
 public:
  LimitedSource(std::shared_ptr<const IndexedSource> source, std::int64_t most)
      : source_(std::move(source)), size_(most) {}

  const SourceInfo& info() const override {
    return source_->info();
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override {
    source_->read(index, sample);
  }
  void read_window(
      std::int64_t index,
      const WindowChooser& chooser,
      Sample& sample) const override {
    source_->read_window(index, chooser, sample);
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return source_->label(index);
  }
  std::string describe(std::int64_t index) const override {
    return source_->describe(index);
  }
  std::uint64_t fingerprint() const override {
    Hasher hasher;
    hasher.add(source_->fingerprint());
    hasher.add(static_cast<std::uint64_t>(size_));
    return hasher.value();
  }
  const Content* content() const override {
    return source_->content();
  }

 private:
  std::shared_ptr<const IndexedSource> source_;
  std::int64_t size_;
};

} // namespace

std::shared_ptr<const IndexedSource> limited(
    std::shared_ptr<const IndexedSource> source,
    std::int64_t most) {
  if (most <= 0 || source->size() <= most) return source;
  return std::make_shared<LimitedSource>(std::move(source), most);
}

} // namespace temper::data
