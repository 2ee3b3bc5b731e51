#include "temper/data/format/tar_header.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper::data {
namespace {

using HeaderBlock = std::span<const std::uint8_t, kTarBlock>;

struct HeaderField {
  std::size_t offset;
  std::size_t bytes;
};
constexpr HeaderField kNameField{0, 100};
constexpr HeaderField kSizeField{124, 12};
constexpr HeaderField kChecksum{148, 8};
constexpr HeaderField kMagicField{257, 5};
constexpr HeaderField kPrefixField{345, 155};
constexpr std::size_t kTypeOffset = 156;

std::string field_text(HeaderBlock block, HeaderField field) {
  const auto* begin = block.data() + field.offset;
  const auto* end = std::find(begin, begin + field.bytes, std::uint8_t{0});
  return {begin, end};
}

// Octal digits, between blanks or zeros; or GNU's binary form, marked by the
// top bit.
std::optional<std::uint64_t> number_of(HeaderBlock block, HeaderField field) {
  const auto* at = block.data() + field.offset;
  const auto* end = at + field.bytes;
  std::uint64_t value = 0;
  if ((*at & 0x80) != 0) {
    if (*at != 0x80) return std::nullopt; // negative, or beyond 64 bits
    for (++at; at != end; ++at) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | *at;
    }
    return value;
  }
  while (at != end && *at == ' ')
    ++at;
  bool digits = false;
  for (; at != end && *at >= '0' && *at <= '7'; ++at) {
    if (value >> 60 != 0) return std::nullopt;
    value = value << 3 | static_cast<std::uint64_t>(*at - '0');
    digits = true;
  }
  for (; at != end; ++at)
    if (*at != ' ' && *at != 0) return std::nullopt;
  return digits ? std::optional(value) : std::nullopt;
}

// The sum of all bytes, those of the checksum itself taken as blanks.
std::uint64_t checksum_of(HeaderBlock block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own =
        i >= kChecksum.offset && i < kChecksum.offset + kChecksum.bytes;
    sum += own ? std::uint8_t{' '} : block[i];
  }
  return sum;
}

} // namespace

std::optional<TarHeader> parse_tar_header(HeaderBlock block) {
  const auto checksum = number_of(block, kChecksum);
  if (!checksum || *checksum != checksum_of(block)) return std::nullopt;
  const auto size = number_of(block, kSizeField);
  if (!size) return std::nullopt;
  TarHeader header;
  header.name = field_text(block, kNameField);
  header.size = *size;
  header.type = static_cast<char>(block[kTypeOffset]);
  // GNU's own format has other things where ustar has the prefix.
  const bool posix = field_text(block, kMagicField) == "ustar" &&
      block[kMagicField.offset + kMagicField.bytes] == 0;
  const std::string prefix = posix ? field_text(block, kPrefixField) : "";
  if (!prefix.empty()) header.name = cat(prefix, "/", header.name);
  return header;
}

bool is_empty_block(HeaderBlock block) {
  return std::all_of(
      block.begin(), block.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::optional<std::string> pax_value(
    std::string_view records,
    std::string_view key) {
  std::optional<std::string> value;
  while (!records.empty()) {
    const auto blank = records.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const auto length = parse_int(records.substr(0, blank));
    if (!length || *length <= static_cast<std::int64_t>(blank) + 1 ||
        static_cast<std::uint64_t>(*length) > records.size())
      return std::nullopt;
    auto record = records.substr(0, static_cast<std::size_t>(*length));
    records.remove_prefix(record.size());
    if (record.back() != '\n') return std::nullopt;
    record.remove_suffix(1);
    record.remove_prefix(blank + 1);
    if (starts_with(record, key) && record.size() > key.size() &&
        record[key.size()] == '=')
      value = std::string(record.substr(key.size() + 1)); // the last one counts
  }
  return value;
}

} // namespace temper::data
