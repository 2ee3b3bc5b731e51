#include "temper/data/sample/split.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/sample/stratify.h"

namespace temper::data {
namespace {

// Keeps this choice apart from the orders that the same seed gives elsewhere.
constexpr std::uint64_t kPurpose = 0x53504C4954ULL;

} // namespace

SubsetSource::SubsetSource(
    std::shared_ptr<const IndexedSource> whole,
    std::uint64_t key,
    std::int64_t first,
    std::int64_t count)
    : whole_(std::move(whole)),
      order_(static_cast<std::uint64_t>(whole_->size()), key),
      key_(key),
      first_(first),
      count_(count) {
  check(
      first >= 0 && count >= 0 && first + count <= whole_->size(),
      "a subset lies within its source");
}

std::int64_t SubsetSource::index_of(std::int64_t index) const {
  check(index >= 0 && index < count_, "an index of the subset");
  return static_cast<std::int64_t>(
      order_(static_cast<std::uint64_t>(first_ + index)));
}

void SubsetSource::read(std::int64_t index, Sample& sample) const {
  whole_->read(index_of(index), sample);
}

void SubsetSource::read_window(
    std::int64_t index,
    const WindowChooser& chooser,
    Sample& sample) const {
  whole_->read_window(index_of(index), chooser, sample);
}

std::optional<std::int64_t> SubsetSource::label(std::int64_t index) const {
  return whole_->label(index_of(index));
}

std::string SubsetSource::describe(std::int64_t index) const {
  return whole_->describe(index_of(index));
}

std::uint64_t SubsetSource::fingerprint() const {
  Hasher hasher;
  hasher.add(whole_->fingerprint());
  hasher.add(key_);
  hasher.add(static_cast<std::uint64_t>(first_));
  hasher.add(static_cast<std::uint64_t>(count_));
  return hasher.value();
}

namespace {

// Error for a fraction, or a source, that cannot be divided.
std::int64_t size_of_val(const IndexedSource& whole, double fraction) {
  if (!(fraction >= 0 && fraction < 1))
    throw Error(
        cat("[data] cannot keep ", fraction, " of the samples for validation."),
        "Set data.val_fraction to 0 or more and less than 1.");
  const std::int64_t size = whole.size();
  if (fraction == 0) return 0;
  if (size < 2)
    throw Error(
        cat("[data] ",
            whole.info().name,
            " has ",
            plural(size, "sample"),
            ": too few to divide."),
        "Add samples, or set data.val_fraction = 0.");
  const auto wanted = static_cast<std::int64_t>(
      std::llround(fraction * static_cast<double>(size)));
  return std::clamp<std::int64_t>(wanted, 1, size - 1);
}

} // namespace

Splits split_at_random(
    std::shared_ptr<const IndexedSource> whole,
    double fraction,
    std::uint64_t seed) {
  const std::int64_t val = size_of_val(*whole, fraction);
  if (val == 0) return {std::move(whole), nullptr};
  const std::uint64_t key = mix64(seed ^ kPurpose);
  Splits parts;
  parts.train =
      std::make_shared<SubsetSource>(whole, key, val, whole->size() - val);
  parts.val = std::make_shared<SubsetSource>(whole, key, 0, val);
  parts.divided = true;
  return parts;
}

Splits divide(
    std::shared_ptr<const IndexedSource> whole,
    const OpenOptions& options) {
  if (options.whole) return {std::move(whole), nullptr};
  if (options.stratified) {
    const std::int64_t val = size_of_val(*whole, options.val_fraction);
    if (auto parts = stratified(whole, val, mix64(options.seed ^ kPurpose)))
      return *std::move(parts);
  }
  return split_at_random(std::move(whole), options.val_fraction, options.seed);
}

} // namespace temper::data
