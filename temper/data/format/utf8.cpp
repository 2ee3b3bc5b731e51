#include "temper/data/format/utf8.h"

#include <array>

namespace temper::data {
namespace {

// The characters of 0x80 to 0x9F.
constexpr std::array<char32_t, 32> kWindows1252{
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
    0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

} // namespace

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

bool is_utf8(std::string_view text) {
  const std::span bytes(
      reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  for (std::size_t at = 0; at < bytes.size();)
    if (bytes[at] < 0x80)
      ++at;
    else if (!next_code_point(bytes, at))
      return false;
  return true;
}

std::string utf8_of_windows_1252(std::string_view text) {
  std::string made;
  made.reserve(text.size() + text.size() / 8);
  for (const char letter : text) {
    const auto byte = static_cast<std::uint8_t>(letter);
    const bool special = byte >= 0x80 && byte < 0xa0;
    made += to_utf8(special ? kWindows1252.at(byte - 0x80U) : byte);
  }
  return made;
}

std::string as_utf8(std::string_view text) {
  return is_utf8(text) ? std::string(text) : utf8_of_windows_1252(text);
}

} // namespace temper::data
