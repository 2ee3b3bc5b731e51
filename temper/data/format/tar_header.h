// The 512-byte headers of tar archives: POSIX ustar, GNU's long names and pax
// records. For those who read an archive as it comes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace temper::data {

constexpr std::size_t kTarBlock = 512;

struct TarHeader {
  std::string name; // with the ustar prefix
  std::uint64_t size = 0; // of the contents, which follow in whole blocks
  char type = '0';

  bool is_file() const {
    return type == '0' || type == '\0' || type == '7';
  }
  // Its contents are the name of the next member.
  bool is_long_name() const {
    return type == 'L';
  }
  // Its contents are pax records about the next member, or all of them.
  bool is_pax() const {
    return type == 'x';
  }
};

// The header in a block; no value when it is none: the checksum or a number is
// wrong.
std::optional<TarHeader> parse_tar_header(
    std::span<const std::uint8_t, kTarBlock> block);

// Two of these end an archive.
bool is_empty_block(std::span<const std::uint8_t, kTarBlock> block);

// The value of a key in pax records ("25 path=photos/1.jpg\n" ...); no value
// when it is not there or they are malformed.
std::optional<std::string> pax_value(
    std::string_view records,
    std::string_view key);

} // namespace temper::data
