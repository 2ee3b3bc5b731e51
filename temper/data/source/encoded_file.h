// The bytes of one sample, read with the file open only meanwhile, and the
// message when they are no good. Used by the sources made of encoded files.
// Private to data/source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/data/sample/source.h"

namespace temper::data {

// Samples above this are refused before memory is taken.
constexpr std::uint64_t kMostEncodedBytes = std::uint64_t{1} << 30;

// Throws BadSample with the bare reason, as decode_image does.
void read_encoded_file(
    const std::string& path,
    std::vector<std::uint8_t>& bytes);
void read_encoded_range(
    const std::string& path,
    std::uint64_t offset,
    std::uint64_t count,
    std::vector<std::uint8_t>& bytes);

// "[data] cannot decode photos/cat/12.jpg: truncated after 3,112 bytes."
[[noreturn]] void rethrow_named(
    const BadSample& error,
    const std::string& name);

} // namespace temper::data
