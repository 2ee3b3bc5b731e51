#include "temper/data/sample/stratify.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "temper/base/digest/hash.h"

namespace temper::data {
namespace {

// One of the two parts, in an order of its own: the first samples of it, which
// data.limit takes, are of all classes.
class StratifiedPart final : public IndexedSource {
 public:
  StratifiedPart(
      std::shared_ptr<const IndexedSource> whole,
      std::shared_ptr<const BitSelect> chosen,
      bool val,
      std::uint64_t key)
      : whole_(std::move(whole)),
        chosen_(std::move(chosen)),
        val_(val),
        size_(val ? chosen_->count() : whole_->size() - chosen_->count()),
        order_(static_cast<std::uint64_t>(size_), mix64(key + 1)),
        key_(key) {}

  const SourceInfo& info() const override {
    return whole_->info();
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override {
    whole_->read(index_of(index), sample);
  }
  void read_window(
      std::int64_t index,
      const WindowChooser& chooser,
      Sample& sample) const override {
    whole_->read_window(index_of(index), chooser, sample);
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return whole_->label(index_of(index));
  }
  std::string describe(std::int64_t index) const override {
    return whole_->describe(index_of(index));
  }
  const Content* content() const override {
    return whole_->content();
  }
  std::uint64_t fingerprint() const override {
    Hasher hasher;
    hasher.add(whole_->fingerprint());
    hasher.add(key_);
    hasher.add(std::uint64_t{val_ ? 1U : 0U});
    hasher.add(static_cast<std::uint64_t>(size_));
    return hasher.value();
  }

 private:
  std::int64_t index_of(std::int64_t index) const {
    check(index >= 0 && index < size_, "an index of the part");
    const auto place = order_(static_cast<std::uint64_t>(index));
    return chosen_->nth(static_cast<std::int64_t>(place), val_);
  }

  std::shared_ptr<const IndexedSource> whole_;
  std::shared_ptr<const BitSelect> chosen_;
  bool val_;
  std::int64_t size_;
  Permutation order_;
  std::uint64_t key_;
};

// The place of a label in the table of counts; the first one is for samples
// whose label is not known.
std::size_t slot_of(const IndexedSource& source, std::int64_t index) {
  const std::int64_t label = source.label(index).value_or(-1);
  return label < 0 || label >= kMostClasses
      ? 0
      : static_cast<std::size_t>(label) + 1;
}

// How many of each class validate: in proportion, what rounding left over
// goes where it took most away.
std::vector<std::int64_t> shares(
    const std::vector<std::int64_t>& counts,
    std::int64_t val) {
  const std::int64_t all =
      std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::int64_t> made(counts.size());
  std::vector<std::pair<double, std::size_t>> lost;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double exact = static_cast<double>(counts[i]) *
        static_cast<double>(val) / static_cast<double>(all);
    made[i] = static_cast<std::int64_t>(exact);
    given += made[i];
    lost.emplace_back(static_cast<double>(made[i]) - exact, i);
  }
  std::sort(lost.begin(), lost.end());
  for (std::size_t i = 0; given < val; i = (i + 1) % lost.size()) {
    const std::size_t slot = lost[i].second;
    if (made[slot] >= counts[slot]) continue;
    ++made[slot];
    ++given;
  }
  return made;
}

} // namespace

BitSelect::BitSelect(std::int64_t size)
    : size_(size),
      words_(static_cast<std::size_t>((size + kBlock - 1) / kBlock) * 8) {}

void BitSelect::set(std::int64_t index) {
  check(index >= 0 && index < size_, "a bit that is there");
  words_[static_cast<std::size_t>(index / 64)] |= std::uint64_t{1}
      << (index % 64);
}

bool BitSelect::get(std::int64_t index) const {
  check(index >= 0 && index < size_, "a bit that is there");
  return (words_[static_cast<std::size_t>(index / 64)] >> (index % 64) & 1) !=
      0;
}

void BitSelect::finish() {
  std::int64_t before = 0;
  for (std::size_t word = 0; word < words_.size(); ++word) {
    if (word % (kBlock / 64) == 0) set_before_.push_back(before);
    before += std::popcount(words_[word]);
  }
  set_before_.push_back(before);
}

std::int64_t BitSelect::nth(std::int64_t n, bool set) const {
  // The last block that begins with no more than n of them before it.
  std::int64_t low = 0;
  auto high = static_cast<std::int64_t>(set_before_.size()) - 1;
  const auto before = [&](std::int64_t block) {
    const std::int64_t ones = set_before_[static_cast<std::size_t>(block)];
    return set ? ones : block * kBlock - ones;
  };
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (before(middle) <= n ? low : high) = middle;
  }
  std::int64_t left = n - before(low);
  for (std::int64_t word = low * (kBlock / 64);; ++word) {
    std::uint64_t bits = words_.at(static_cast<std::size_t>(word));
    if (!set) bits = ~bits;
    const int here = std::popcount(bits);
    if (left >= here) {
      left -= here;
      continue;
    }
    for (; left > 0; --left)
      bits &= bits - 1;
    const std::int64_t index = word * 64 + std::countr_zero(bits);
    check(index < size_, "as many bits as were counted");
    return index;
  }
}

std::optional<Splits> stratified(
    const std::shared_ptr<const IndexedSource>& whole,
    std::int64_t val,
    std::uint64_t key) {
  const std::int64_t size = whole->size();
  if (val <= 0 || whole->info().target != Target::label) return std::nullopt;
  if (!whole->label(0) && !whole->label(size - 1)) return std::nullopt;
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::size_t slot = slot_of(*whole, i);
    if (slot >= counts.size()) counts.resize(slot + 1);
    ++counts[slot];
  }
  const std::vector<std::int64_t> wanted = shares(counts, val);
  std::vector<Permutation> orders;
  for (std::size_t slot = 0; slot < counts.size(); ++slot)
    orders.emplace_back(
        static_cast<std::uint64_t>(std::max<std::int64_t>(counts[slot], 1)),
        mix64(key ^ mix64(slot + 1)));
  auto chosen = std::make_shared<BitSelect>(size);
  std::vector<std::int64_t> met(counts.size());
  for (std::int64_t i = 0; i < size; ++i) {
    const std::size_t slot = slot_of(*whole, i);
    const auto place = orders[slot](static_cast<std::uint64_t>(met[slot]++));
    if (static_cast<std::int64_t>(place) < wanted[slot]) chosen->set(i);
  }
  chosen->finish();
  Splits parts;
  parts.train = std::make_shared<StratifiedPart>(whole, chosen, false, key);
  parts.val = std::make_shared<StratifiedPart>(whole, chosen, true, key);
  parts.divided = true;
  return parts;
}

} // namespace temper::data
