#include "temper/data/format/tar_header.h"

#include <algorithm>
#include <utility>

#include "temper/base/text.h"

namespace temper::data {
namespace {

// Where the fields of a header are: POSIX.1-1988, "ustar".
struct HeaderField {
  std::size_t offset;
  std::size_t bytes;
};
constexpr HeaderField kNameField{0, 100};
constexpr HeaderField kSizeField{124, 12};
constexpr HeaderField kChecksumField{148, 8};
constexpr std::size_t kTypeOffset = 156;
constexpr HeaderField kMagicField{257, 6};
constexpr HeaderField kPrefixField{345, 155};

std::string_view all_of(TarBlock block, HeaderField field) {
  return {
      reinterpret_cast<const char*>(block.data()) + field.offset, field.bytes};
}

// Up to the first NUL.
std::string_view text_of(TarBlock block, HeaderField field) {
  const std::string_view all = all_of(block, field);
  return all.substr(0, all.find('\0'));
}

// Octal digits, between blanks; or GNU's big-endian binary form, marked by the
// top bit. An empty field is 0, as other readers have it.
std::optional<std::uint64_t> number_of(TarBlock block, HeaderField field) {
  std::uint64_t value = 0;
  if ((block[field.offset] & 0x80) != 0) {
    for (std::size_t i = 0; i < field.bytes; ++i) {
      if (value >> 55 != 0) return std::nullopt;
      const std::uint8_t byte = block[field.offset + i];
      value = value << 8 | (i == 0 ? byte & 0x7F : byte);
    }
    return value;
  }
  for (const char digit : trim(text_of(block, field))) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

// The sum counts its own field as blanks; old programs summed signed bytes.
bool checksum_fits(TarBlock block) {
  std::int64_t plain = 0;
  std::int64_t with_sign = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksumField.offset &&
        i < kChecksumField.offset + kChecksumField.bytes;
    const std::uint8_t byte = own ? std::uint8_t{' '} : block[i];
    plain += byte;
    with_sign += static_cast<std::int8_t>(byte);
  }
  const auto stated = number_of(block, kChecksumField);
  return stated &&
      (*stated == static_cast<std::uint64_t>(plain) ||
       *stated == static_cast<std::uint64_t>(with_sign));
}

std::string name_in(TarBlock block) {
  const std::string_view name = text_of(block, kNameField);
  const std::string_view prefix = text_of(block, kPrefixField);
  // GNU's own format has other things where ustar has the prefix.
  const bool posix =
      all_of(block, kMagicField) == std::string_view("ustar\0", 6);
  if (!posix || prefix.empty()) return std::string(name);
  return cat(prefix, "/", name);
}

} // namespace

bool is_empty_block(TarBlock block) {
  return std::all_of(
      block.begin(), block.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::optional<TarHeader> TarHeaders::next(TarBlock block) {
  if (!checksum_fits(block)) return std::nullopt;
  TarHeader header;
  header.name = name_in(block);
  header.size = number_of(block, kSizeField);
  header.type = static_cast<char>(block[kTypeOffset]);
  if (header.is_note()) return header;
  const auto name = std::exchange(name_, std::nullopt);
  const auto size = std::exchange(size_, std::nullopt);
  if (name) header.name = *name;
  if (size && header.size) header.size = size;
  if (header.is_hollow() && header.size) header.size = 0;
  return header;
}

bool TarHeaders::take_note(const TarHeader& header, std::string_view contents) {
  if (header.type == 'x') return read_pax(contents);
  if (header.type == 'L') name_ = contents.substr(0, contents.find('\0'));
  // A global record sets what no single member has; a link's name is of no
  // interest.
  return true;
}

// Records such as "27 path=some/long/name\n", the length counting itself; the
// last one of a key counts.
bool TarHeaders::read_pax(std::string_view records) {
  while (!records.empty()) {
    const auto blank = records.find(' ');
    if (blank == std::string_view::npos) return false;
    const auto length = parse_int(records.substr(0, blank));
    if (!length || *length < static_cast<std::int64_t>(blank) + 2 ||
        *length > static_cast<std::int64_t>(records.size()))
      return false;
    const auto bytes = static_cast<std::size_t>(*length);
    if (records[bytes - 1] != '\n') return false;
    const auto record = records.substr(blank + 1, bytes - blank - 2);
    records.remove_prefix(bytes);
    if (record.starts_with("path=")) {
      name_ = record.substr(5);
    } else if (record.starts_with("size=")) {
      const auto size = parse_int(record.substr(5));
      if (!size || *size < 0) return false;
      size_ = static_cast<std::uint64_t>(*size);
    }
  }
  return true;
}

} // namespace temper::data
