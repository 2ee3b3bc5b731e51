// The JSON header of a safetensors file: what tensors there are, of what type,
// where. Read in one pass without building a document, so that memory stays in
// proportion to the file. Used by the reader and writer of safetensors only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "temper/graph/ir/dtype.h"

namespace temper::weights {

// Longer headers are refused by every reader of the format.
constexpr std::uint64_t kLongestHeader = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  graph::DType dtype = graph::DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::uint64_t begin = 0; // in the bytes behind the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries; // sorted by where they lie
  std::map<std::string, std::string> metadata;
};

// Parses and checks every rule of the format that the header alone can break,
// and that its tensors cover exactly `data_bytes`. `file` is for the error's
// sentence.
SafetensorsHeader parse_safetensors_header(
    std::string_view text,
    std::uint64_t data_bytes,
    const std::string& file);

// The text for these entries, in their order, padded so that what follows its
// eight bytes of length is aligned.
std::string safetensors_header_text(const SafetensorsHeader& header);

// A name from a file, fit to be shown: not too long, no control characters.
std::string shown_name(std::string_view name);
// "[64, 3, 7, 7]"
std::string sizes_text(const std::vector<std::int64_t>& sizes);

} // namespace temper::weights
