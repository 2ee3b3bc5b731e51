// The JSON in a pack: what its sources said of themselves.
// Private to data/pack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "temper/data/sample/source.h"

namespace temper::data {

struct PackPart {
  SourceInfo info;
  std::int64_t size = 0;
  std::uint64_t fingerprint = 0;
  // The fingerprint follows from contents; in earlier packs, from names and
  // sizes.
  bool of_content = true;
  bool divided = false; // as Splits has it
};

std::string write_about(const std::vector<PackPart>& parts);
// Error when it is malformed.
std::vector<PackPart> read_about(std::string_view text);

} // namespace temper::data
