#include "temper/data/split.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "temper/base/hash.h"
#include "temper/base/text.h"

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

Splits split(
    std::shared_ptr<const IndexedSource> whole,
    double fraction,
    std::uint64_t seed) {
  if (!(fraction >= 0 && fraction < 1))
    throw Error(
        cat("[data] cannot keep ", fraction, " of the samples for validation."),
        "Set data.val_fraction to 0 or more and less than 1.");
  if (fraction == 0) return {std::move(whole), nullptr};
  const std::int64_t size = whole->size();
  if (size < 2)
    throw Error(
        cat("[data] ",
            whole->info().name,
            " has ",
            plural(size, "sample"),
            ": too few to divide."),
        "Add samples, or set data.val_fraction = 0.");
  const auto wanted = static_cast<std::int64_t>(
      std::llround(fraction * static_cast<double>(size)));
  const std::int64_t val = std::clamp<std::int64_t>(wanted, 1, size - 1);
  const std::uint64_t key = mix64(seed ^ kPurpose);
  return {
      std::make_shared<SubsetSource>(whole, key, val, size - val),
      std::make_shared<SubsetSource>(whole, key, 0, val)};
}

} // namespace temper::data
