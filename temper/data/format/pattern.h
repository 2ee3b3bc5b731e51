// Names of shards from a pattern: `data-{000..009}.tar`, `{train,val}-*.tar`.
// Used by the sources made of shards.
#pragma once

#include <string>
#include <vector>

namespace temper::data {

// Braces hold a range of numbers or a list, and may nest in lists. Error when
// they are not closed or give more names than anybody has shards.
std::vector<std::string> expand_braces(const std::string& pattern);

// The files, in the order of the braces, each wildcard sorted. Error when a
// name without wildcards does not exist or nothing matches.
std::vector<std::string> expand_pattern(const std::string& pattern);

struct ShardParts {
  std::vector<std::string> train;
  std::vector<std::string> val; // empty: not told apart by name
  std::vector<std::string> test; // neither trained on nor validated with
};

// Divides files by the words "train" and "val", "valid", "validation" or "test"
// in the name or its folder's: shards that are marked must not be mixed.
ShardParts part_by_name(const std::vector<std::string>& files);

} // namespace temper::data
