// Hexadecimal digits, in lower case.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace temper {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// Two digits a byte.
inline std::string hex_of_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kHexDigits[value >> 4];
    text += kHexDigits[value & 15];
  }
  return text;
}

// For names that must not meet again; no part of the results.
inline std::string random_hex(int digits) {
  std::random_device device;
  std::string text;
  for (int i = 0; i < digits; ++i)
    text += kHexDigits[device() & 15];
  return text;
}

} // namespace temper
