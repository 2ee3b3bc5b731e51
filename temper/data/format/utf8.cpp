#include "temper/data/format/utf8.h"

namespace temper::data {

std::optional<char32_t> next_code_point(
    std::span<const std::uint8_t> text,
    std::size_t& at) {
  const std::uint8_t first = text[at];
  if (first < 0x80) {
    ++at;
    return first;
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < length)
    return std::nullopt;
  char32_t point = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint8_t next = text[at + i];
    if ((next & 0xc0) != 0x80) return std::nullopt;
    point = point << 6 | (next & 0x3fU);
  }
  const bool overlong =
      (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (overlong || surrogate || point >= kCodePoints) return std::nullopt;
  at += length;
  return point;
}

std::string to_utf8(char32_t point) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80U | (point >> shift & 0x3fU));
  };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0U | point >> 6), tail(0)};
  if (point < 0x10000)
    return {static_cast<char>(0xe0U | point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0U | point >> 18), tail(12), tail(6), tail(0)};
}

} // namespace temper::data
