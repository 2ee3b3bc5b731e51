// The places of a zip archive's entries. libzip does not tell them, and bytes
// in a mapped file can only be handed out by one that knows. zip_file.cpp
// compares what it finds here with what libzip says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace temper {

struct ZipPlace {
  std::string name;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t header_offset = 0; // of the entry's own header
  std::uint64_t data_offset = 0;
};

// The entries in the order of the archive's directory; no value when the
// directory or an entry's header is damaged or points outside the file.
std::optional<std::vector<ZipPlace>> zip_places(
    std::span<const std::uint8_t> file);

// The CRC-32 that an archive keeps of each entry.
std::uint32_t zip_checksum(std::span<const std::uint8_t> bytes);

} // namespace temper
