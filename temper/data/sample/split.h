// Part of a source for training and the rest for validation, chosen by a seed.
// The choice is a keyed permutation: no list of indices, whatever the size.
// Used by every source that comes without a validation part.
#pragma once

#include <cstdint>
#include <memory>

#include "temper/base/random/permutation.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// `count` samples of a source, from position `first` of its shuffled order.
class SubsetSource final : public IndexedSource {
 public:
  SubsetSource(
      std::shared_ptr<const IndexedSource> whole,
      std::uint64_t key,
      std::int64_t first,
      std::int64_t count);

  const SourceInfo& info() const override {
    return whole_->info();
  }
  std::int64_t size() const override {
    return count_;
  }
  void read(std::int64_t index, Sample& sample) const override;
  void read_window(
      std::int64_t index,
      const WindowChooser& chooser,
      Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return whole_->content();
  }

 private:
  std::int64_t index_of(std::int64_t index) const;

  std::shared_ptr<const IndexedSource> whole_;
  Permutation order_;
  std::uint64_t key_;
  std::int64_t first_;
  std::int64_t count_;
};

// `fraction` of the samples, rounded, are for validation; both parts get one
// at least. With 0 everything is for training and val is null. Error unless
// 0 <= fraction < 1 and there is enough to divide.
Splits split_at_random(
    std::shared_ptr<const IndexedSource> whole,
    double fraction,
    std::uint64_t seed);

// The same as the options want it: stratified where the labels are known
// without reading samples (stratify.h), and not at all for a source that is
// one part.
Splits divide(
    std::shared_ptr<const IndexedSource> whole,
    const OpenOptions& options);

} // namespace temper::data
