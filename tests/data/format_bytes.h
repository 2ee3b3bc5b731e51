// Bytes in the order that a format wants, for tests that write its files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace temper::data {

inline std::string byte(int value) {
  return {static_cast<char>(value)};
}

inline std::string big_endian32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift);
  return bytes;
}

inline std::span<const std::uint8_t> bytes_in(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

} // namespace temper::data
