// The one reader of tar headers: POSIX ustar, GNU's long names and binary
// sizes, and pax records. It is handed blocks of 512 bytes, from a file in
// memory (tar_index.h), a program's output (cmd_source.cpp) or a .tar.gz
// (unpack.cpp); what to say about damage is theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace temper::data {

constexpr std::size_t kTarBlock = 512;
// Long names and pax records are a few kilobytes; larger ones are damage.
constexpr std::uint64_t kMostTarNote = std::uint64_t{1} << 20;

using TarBlock = std::span<const std::uint8_t, kTarBlock>;

struct TarHeader {
  std::string name;
  // Bytes of contents, which follow in whole blocks; no value if the header
  // states no number.
  std::optional<std::uint64_t> size;
  char type = '0';

  bool is_file() const {
    return type == '0' || type == '\0' || type == '7';
  }
  // Its contents are a note about the next member, or about all of them.
  bool is_note() const {
    return type == 'x' || type == 'g' || type == 'L' || type == 'K';
  }
  // Links, devices and folders state a size at times, but have no contents.
  bool is_hollow() const {
    return type >= '1' && type <= '6';
  }
};

// Contents with what fills their last block.
constexpr std::uint64_t whole_blocks(std::uint64_t bytes) {
  return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
}

// Two of these end an archive.
bool is_empty_block(TarBlock block);

class TarHeaders {
 public:
  // The header in a block, with what notes before it said of its name and size.
  // No value if the block is no header: its checksum does not fit.
  std::optional<TarHeader> next(TarBlock block);

  // Takes the contents of a header that is_note(). False if they are damaged.
  bool take_note(const TarHeader& header, std::string_view contents);

 private:
  bool read_pax(std::string_view records);

  std::optional<std::string> name_; // of the next member
  std::optional<std::uint64_t> size_;
};

} // namespace temper::data
