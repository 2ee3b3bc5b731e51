// Code points out of UTF-8 and back, strictly: no overlong forms, no
// surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace temper::data {

constexpr std::size_t kCodePoints = 0x110000;

// The code point at `at`, which moves behind it; no value when it is malformed.
std::optional<char32_t> next_code_point(
    std::span<const std::uint8_t> text,
    std::size_t& at);

std::string to_utf8(char32_t point);

} // namespace temper::data
