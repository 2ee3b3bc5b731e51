// Where the samples of a set of shards are, in 24 bytes each, and what can be
// said about them without reading one. Used by ShardSource and by the formats
// that fill it.
// Private to data/source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/data/format/name_list.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct ShardEntry {
  static constexpr std::int32_t kNoLabel = -1;

  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t shard = 0;
  std::int32_t label = kNoLabel; // kNoLabel: reading it says what is wrong
};

struct ShardIndex {
  std::vector<std::string> shards;
  std::vector<ShardEntry> entries;
  NameList names; // of the entries, where the format has names
  bool labelled() const; // any of them
  std::uint64_t fingerprint() const; // of places and labels
};

// A label as it is kept: kNoLabel when it cannot be one.
std::int32_t kept_label(std::int64_t label);

// The description of such a source, with a class for every label up to the
// largest one: those of `names`, then numbers.
SourceInfo describe_shards(
    const std::string& name,
    const ShardIndex& index,
    const std::vector<std::string>& names);

} // namespace temper::data
