// Whole numbers in files, whichever end of them comes first and wherever they
// begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace temper {

// read_big_endian<std::uint32_t>(at): the number in sizeof(Number) bytes.
template <class Number>
constexpr Number read_big_endian(const std::uint8_t* at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(value << 8 | at[i]);
  return value;
}

template <class Number>
constexpr Number read_little_endian(const std::uint8_t* at) {
  Number value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    value = static_cast<Number>(value << 8 | at[i]);
  return value;
}

// The lowest `bytes` bytes of a number, lowest first.
inline std::string little_endian_text(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

} // namespace temper
