#include "temper/data/source/shards.h"

#include <algorithm>

#include "temper/base/digest/hash.h"

namespace temper::data {

bool ShardIndex::labelled() const {
  return std::any_of(
      entries.begin(), entries.end(), [](const ShardEntry& entry) {
        return entry.label != ShardEntry::kNoLabel;
      });
}

std::uint64_t ShardIndex::fingerprint() const {
  Hasher hasher;
  for (const ShardEntry& entry : entries) {
    hasher.add(entry.offset);
    hasher.add(std::uint64_t{entry.bytes} << 32 | entry.shard);
    hasher.add(static_cast<std::uint64_t>(entry.label));
  }
  return hasher.value();
}

std::int32_t kept_label(std::int64_t label) {
  return label >= 0 && label < kMostClasses ? static_cast<std::int32_t>(label)
                                            : ShardEntry::kNoLabel;
}

SourceInfo describe_shards(
    const std::string& name,
    const ShardIndex& index,
    const std::vector<std::string>& names) {
  std::int32_t largest = ShardEntry::kNoLabel;
  for (const ShardEntry& entry : index.entries)
    largest = std::max(largest, entry.label);
  SourceInfo info;
  info.name = name;
  info.input = Input::image;
  info.target = Target::label;
  info.channels = 3;
  info.classes = names;
  while (static_cast<std::int64_t>(info.classes.size()) <= largest)
    info.classes.push_back(std::to_string(info.classes.size()));
  return info;
}

} // namespace temper::data
