#include "temper/data/open/class_map.h"

#include <unordered_map>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/sample/stratify.h"

namespace temper::data {
namespace {

constexpr std::int64_t kUnseen = -1;

// Classes that are called as they are numbered.
bool are_numbers(const std::vector<std::string>& classes) {
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i] != std::to_string(i)) return false;
  return true;
}

class MappedSource final : public IndexedSource {
 public:
  MappedSource(
      std::shared_ptr<const IndexedSource> source,
      std::vector<std::int64_t> places,
      std::shared_ptr<const BitSelect> kept,
      const std::vector<std::string>& classes)
      : source_(std::move(source)),
        places_(std::move(places)),
        kept_(std::move(kept)),
        info_(source_->info()) {
    info_.classes = classes;
  }

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return kept_ ? kept_->count() : source_->size();
  }
  void read(std::int64_t index, Sample& sample) const override {
    const std::int64_t inner = index_of(index);
    source_->read(inner, sample);
    map_label(inner, sample);
  }
  void read_window(
      std::int64_t index,
      const WindowChooser& chooser,
      Sample& sample) const override {
    const std::int64_t inner = index_of(index);
    source_->read_window(inner, chooser, sample);
    map_label(inner, sample);
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    const auto own = source_->label(index_of(index));
    return own ? std::optional(place_of(*own)) : own;
  }
  std::string describe(std::int64_t index) const override {
    return source_->describe(index_of(index));
  }
  const Content* content() const override {
    return source_->content();
  }
  std::uint64_t fingerprint() const override {
    Hasher hasher;
    hasher.add(source_->fingerprint());
    for (const std::string& name : info_.classes)
      hasher.add(name);
    return hasher.value();
  }

 private:
  void map_label(std::int64_t inner, Sample& sample) const {
    sample.label = place_of(sample.label);
    if (sample.label == kUnseen)
      throw BadSample(
          cat("[data] ",
              source_->describe(inner),
              " has a class that training lacks."));
  }
  std::int64_t index_of(std::int64_t index) const {
    return kept_ ? kept_->nth(index, true) : index;
  }
  std::int64_t place_of(std::int64_t own) const {
    return own >= 0 && static_cast<std::size_t>(own) < places_.size()
        ? places_[static_cast<std::size_t>(own)]
        : kUnseen;
  }

  std::shared_ptr<const IndexedSource> source_;
  std::vector<std::int64_t> places_; // of its own classes in the schema's
  std::shared_ptr<const BitSelect> kept_; // null: all
  SourceInfo info_;
};

} // namespace

ClassMap with_classes(
    std::shared_ptr<const IndexedSource> source,
    const std::vector<std::string>& classes,
    bool named) {
  ClassMap made;
  const std::vector<std::string>& own = source->info().classes;
  if (own == classes) {
    made.source = std::move(source);
    return made;
  }
  made.by_number = !named && are_numbers(own) != are_numbers(classes);
  std::unordered_map<std::string, std::int64_t> place_by_name;
  for (std::size_t i = 0; i < classes.size(); ++i)
    place_by_name.emplace(
        made.by_number ? std::to_string(i) : classes[i],
        static_cast<std::int64_t>(i));
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto found =
        place_by_name.find(made.by_number ? std::to_string(i) : own[i]);
    places.push_back(found == place_by_name.end() ? kUnseen : found->second);
  }
  auto kept = std::make_shared<BitSelect>(source->size());
  for (std::int64_t i = 0; i < source->size(); ++i) {
    const auto label = source->label(i);
    const bool inside =
        label && *label >= 0 && static_cast<std::size_t>(*label) < own.size();
    // A label that is unknown, or no class at all, shows when it is read.
    if (!inside || places[static_cast<std::size_t>(*label)] != kUnseen)
      kept->set(i);
    else
      made.unseen.add(own[static_cast<std::size_t>(*label)]);
  }
  kept->finish();
  if (made.unseen.empty()) kept = nullptr;
  made.source = std::make_shared<MappedSource>(
      std::move(source), std::move(places), std::move(kept), classes);
  return made;
}

} // namespace temper::data
